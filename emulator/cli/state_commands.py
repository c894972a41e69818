"""The options of `flarebed state`; what the commands do is in `state.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from flarebed.emulator.cli.options import PATH, json_option, of_the_project
from flarebed.emulator.cli.output import told

_DEFAULT = "default"
KINDS: Final = ("kv", "d1", "r2", "queues", "workflows")
"""Those of the registry, which is not imported for `--help`."""

force_option = click.option("--force", "-y", is_flag=True, help="Don't ask before something is lost.")
name_argument = click.argument("name", default=_DEFAULT)


@click.group()
def state() -> None:
    """The local state as a whole: archives, snapshots, and what wrangler left."""


@state.command("export")
@click.argument("file", type=PATH, required=False)
@force_option
@of_the_project
def export_state(file: Path | None, force: bool, config: Path | None, env: str | None, persist_to: Path | None) -> None:
    """Write the state of all bindings to one archive (NAME-state.tar.gz)."""
    with told():
        from flarebed.emulator.cli.opening import Place
        from flarebed.emulator.cli.state import export

        export(Place.of(config, env, persist_to), file, force)


@state.command("import")
@click.argument("source", type=PATH, required=False, metavar="[FILE|FOLDER]")
@force_option
@of_the_project
def import_state(
    source: Path | None, force: bool, config: Path | None, env: str | None, persist_to: Path | None
) -> None:
    """Replace the state by an archive's, or take over what wrangler left in a state folder (without one: in this)."""
    with told():
        from flarebed.emulator.cli.opening import Place
        from flarebed.emulator.cli.state import import_archive, import_folder, state_in

        place = Place.of(config, env, persist_to)
        if source is None or source.is_dir():
            import_folder(place, state_in(source or place.state), force)
        else:
            import_archive(place, source, force)


@state.command("clear")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only this kind; repeatable.")
@click.option(
    "--binding", "--name", "words", multiple=True, metavar="NAME",
    help="Only what has this binding, name or id; repeatable.",
)  # fmt: skip
@force_option
@of_the_project
def clear_state(
    kinds: tuple[str, ...],
    words: tuple[str, ...],
    force: bool,
    config: Path | None,
    env: str | None,
    persist_to: Path | None,
) -> None:
    """Delete the state, or a part of it."""
    with told():
        from flarebed.emulator.cli.opening import Place
        from flarebed.emulator.cli.state import clear

        clear(Place.of(config, env, persist_to), kinds, words, force)


@state.command("snapshot")
@name_argument
@click.option("--delete", is_flag=True, help="Delete it.")
@force_option
@of_the_project
def snapshot_state(
    name: str, delete: bool, force: bool, config: Path | None, env: str | None, persist_to: Path | None
) -> None:
    """Keep the state as it is now, under a name ("default")."""
    with told():
        from flarebed.emulator.cli.opening import Place
        from flarebed.emulator.cli.state import delete_snapshot, take_snapshot

        place = Place.of(config, env, persist_to)
        if delete:
            delete_snapshot(place, name)
        else:
            take_snapshot(place, name, force)


@state.command("snapshots")
@json_option
@of_the_project
def state_snapshots(as_json: bool, config: Path | None, env: str | None, persist_to: Path | None) -> None:
    """List the snapshots."""
    with told(as_json=as_json):
        from flarebed.emulator.cli.opening import Place
        from flarebed.emulator.cli.state import list_snapshots

        list_snapshots(Place.of(config, env, persist_to), as_json)


@state.command("restore")
@name_argument
@of_the_project
def restore_state(name: str, config: Path | None, env: str | None, persist_to: Path | None) -> None:
    """Make the state what it was at a snapshot ("default"). What happened since is lost."""
    with told():
        from flarebed.emulator.cli.opening import Place
        from flarebed.emulator.cli.state import restore

        restore(Place.of(config, env, persist_to), name)
