"""The options of `flarebed kv`, named as wrangler names them; what the commands do is in `kv.py`, `kv_bulk.py` and
`kv_namespaces.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from flarebed.bindings.errors import UserError
from flarebed.emulator.cli.options import PATH, Command, of_the_project
from flarebed.emulator.cli.output import told

_PREVIEW = {"true": "--preview", "false": "--no-preview"}


class BooleanOptions(click.Command):
    """As yargs reads them: `--preview false` is `--no-preview`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        read: list[str] = []
        for argument in args:
            if argument in _PREVIEW and read[-1:] == ["--preview"]:
                read[-1] = _PREVIEW[argument]
            else:
                name, _, value = argument.partition("=")
                read.append(_PREVIEW.get(value, argument) if name == "--preview" else argument)
        return super().parse_args(ctx, read)


def _nothing_is_remote(_context: click.Context, _parameter: click.Parameter, remote: bool) -> None:
    if remote:
        with told():
            raise UserError("Nothing here is remote.", hint="For what is deployed, use `wrangler kv ... --remote`.")


binding_option = click.option("--binding", metavar="NAME", help="The binding of the namespace.")
id_option = click.option("--namespace-id", metavar="ID", help="The id of the namespace.")
preview_option = click.option("--preview/--no-preview", default=None, help="Use the preview namespace of the binding.")
remote_option = click.option("--remote", is_flag=True, expose_value=False, callback=_nothing_is_remote, hidden=True)


def on_a_namespace(command: Command) -> Command:
    """What finds one namespace, on this machine."""
    for option in (remote_option, preview_option, id_option, binding_option):
        command = option(command)
    return of_the_project(command)


def with_put_options(command: Command) -> Command:
    for option in (
        click.option("--metadata", metavar="JSON", help="A JSON object that is kept with the key."),
        click.option("--expiration", metavar="TIME", help="When the key expires, in seconds of Unix time."),
        click.option("--ttl", metavar="SECONDS", help="How long the key is there."),
    ):
        command = option(command)
    return command


@click.group()
def kv() -> None:
    """The local KV namespaces."""


@kv.group()
def key() -> None:
    """Single keys of a namespace."""


@kv.group()
def bulk() -> None:
    """Many keys of a namespace at once."""


@kv.group()
def namespace() -> None:
    """The namespaces themselves."""


@key.command("put", cls=BooleanOptions)
@click.argument("key")
@click.argument("value", required=False)
@click.option("--path", type=PATH, metavar="FILE", help="A file whose content is the value.")
@with_put_options
@on_a_namespace
def key_put(key: str, value: str | None, path: Path | None, metadata: str | None, **options: Any) -> None:
    """Write a single key/value pair to the given namespace."""
    with told():
        from flarebed.emulator.cli.kv import Options, exactly_one, metadata_of, put

        given = metadata_of(metadata)
        times = {"expiration": options.pop("expiration"), "expirationTtl": options.pop("ttl")}
        where = Options(**options).exactly_one()
        exactly_one({"<value>": value, "--path": path})
        put(where, key, value or "", path, {**times, "metadata": given})


@key.command("get", cls=BooleanOptions)
@click.argument("key")
@click.option("--text", is_flag=True, help="Decode the value as UTF-8, and end it with a newline.")
@on_a_namespace
def key_get(key: str, text: bool, **options: Any) -> None:
    """Read a single value by key from the given namespace."""
    with told():
        from flarebed.emulator.cli.kv import Options, get

        get(Options(**options).exactly_one().not_preview(), key, text)


@key.command("list", cls=BooleanOptions)
@click.option("--prefix", default="", help="List keys with this prefix only.")
@on_a_namespace
def key_list(prefix: str, **options: Any) -> None:
    """Output a list of all keys in a given namespace."""
    with told():
        from flarebed.emulator.cli.kv import Options, list_keys

        list_keys(Options(**options).exactly_one().not_preview(), prefix)


@key.command("delete", cls=BooleanOptions)
@click.argument("key")
@on_a_namespace
def key_delete(key: str, **options: Any) -> None:
    """Remove a single key value pair from the given namespace."""
    with told():
        from flarebed.emulator.cli.kv import Options, delete

        delete(Options(**options), key)


@bulk.command("put", cls=BooleanOptions)
@click.argument("filename", type=PATH)
@with_put_options
@on_a_namespace
def bulk_put(filename: Path, metadata: str | None, **options: Any) -> None:
    """Upload multiple key-value pairs to a namespace."""
    with told():
        from flarebed.emulator.cli.kv import Options, metadata_of
        from flarebed.emulator.cli.kv_bulk import put, say_without_effect

        metadata_of(metadata)
        say_without_effect(ttl=options.pop("ttl"), expiration=options.pop("expiration"), metadata=metadata)
        put(Options(**options), filename)


@bulk.command("get", cls=BooleanOptions)
@click.argument("filename", type=PATH)
@on_a_namespace
def bulk_get(filename: Path, **options: Any) -> None:
    """Gets multiple key-value pairs from a namespace."""
    with told():
        from flarebed.emulator.cli.kv import Options
        from flarebed.emulator.cli.kv_bulk import get

        get(Options(**options).not_preview(), filename)


@bulk.command("delete", cls=BooleanOptions)
@click.argument("filename", type=PATH)
@click.option("--force", "-f", is_flag=True, help="Do not ask for confirmation before deleting.")
@on_a_namespace
def bulk_delete(filename: Path, force: bool, **options: Any) -> None:
    """Delete multiple key-value pairs from a namespace."""
    with told():
        from flarebed.emulator.cli.kv import Options
        from flarebed.emulator.cli.kv_bulk import delete

        delete(Options(**options), filename, force)


@namespace.command("create", cls=BooleanOptions)
@click.argument("name", metavar="NAMESPACE")
@click.option("--update-config", is_flag=True, help="Add the new namespace to the config file.")
@click.option("--jurisdiction", hidden=True)
@click.option("--use-remote", is_flag=True, hidden=True, expose_value=False, callback=_nothing_is_remote)
@binding_option
@preview_option
@of_the_project
def namespace_create(name: str, update_config: bool, jurisdiction: str | None, **options: Any) -> None:
    """Create a new namespace."""
    with told():
        from flarebed.emulator.cli.kv import Options
        from flarebed.emulator.cli.kv_namespaces import create

        create(Options(**options), name, update_config, jurisdiction)


@namespace.command("list")
@of_the_project
def namespace_list(**options: Any) -> None:
    """Output a list of all KV namespaces on this machine."""
    with told():
        from flarebed.emulator.cli.kv import Options
        from flarebed.emulator.cli.kv_namespaces import show_all

        show_all(Options(**options))


@namespace.command("delete", cls=BooleanOptions)
@click.argument("name", metavar="[NAMESPACE]", required=False)
@click.option("--skip-confirmation", "-y", is_flag=True, help="Skip confirmation.")
@on_a_namespace
def namespace_delete(name: str | None, skip_confirmation: bool, **options: Any) -> None:
    """Delete a given namespace."""
    with told():
        from flarebed.emulator.cli.kv import Options
        from flarebed.emulator.cli.kv_namespaces import delete

        delete(Options(**options), name, skip_confirmation)


@namespace.command("rename")
@click.argument("old_name", metavar="[OLD-NAME]", required=False)
@click.option("--new-name", metavar="NAME", help="The new name for the namespace.")
@id_option
@of_the_project
def namespace_rename(old_name: str | None, new_name: str | None, **options: Any) -> None:
    """Rename a KV namespace."""
    with told():
        from flarebed.emulator.cli.kv import Options
        from flarebed.emulator.cli.kv_namespaces import rename

        rename(Options(**options), old_name, new_name)
