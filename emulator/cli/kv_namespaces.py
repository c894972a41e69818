"""`flarebed kv namespace`: the namespaces of this machine.

They are those of the config, those that have keys, and those that were created here. A title is only a name for the
command line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

from flarebed.bindings.errors import UserError
from flarebed.bindings.kv import directory
from flarebed.bindings.kv.spec import KvNamespaceSpec
from flarebed.emulator.cli.dialogs import confirmed
from flarebed.emulator.cli.kv import Options, chosen
from flarebed.emulator.cli.opening import OpenedProject, opened_project
from flarebed.emulator.config.patch import with_binding

MAX_TITLE_LENGTH: Final = 512


def show_all(where: Options) -> None:
    with opened_project(where.config, where.env, where.persist_to) as project:
        found = sorted(_titles(project).items(), key=lambda one: (one[1], one[0]))
        rows = [{"id": name, "title": title, "supports_url_encoding": True} for name, title in found]
        print(json.dumps(rows, indent=2, ensure_ascii=False))


def create(where: Options, name: str, update_config: bool, jurisdiction: str | None) -> None:
    title = (f"{where.env}-" if where.env else "") + name + ("_preview" if where.preview else "")
    with opened_project(where.config, where.env, where.persist_to) as project:
        of_jurisdiction = f" (jurisdiction: {jurisdiction})" if jurisdiction else ""
        print(f'🌀 Creating namespace with title "{title}"{of_jurisdiction}')
        _refuse_taken(project, title)
        namespace_id = f"{project.around.entropy.getrandbits(128):032x}"
        project.do(directory.set_title(project.around.store, namespace_id, title))
        print("✨ Success!")
        field = "preview_id" if where.preview else "id"
        item = {"binding": where.binding or _binding_name(name), field: namespace_id}
        _show_snippet(project.config.path, where.env, item)
        if where.binding or (update_config and not where.preview):
            _write(project.config.path, where.env, item)


def delete(where: Options, name: str | None, skip_confirmation: bool) -> None:
    given = [option for option in (name, where.binding, where.namespace_id) if option]
    if not given:
        raise UserError(
            "No KV namespace specified. Provide a namespace name as a positional argument, or use `--binding` or "
            "`--namespace-id`."
        )
    if len(given) > 1:
        raise UserError(
            "Only one namespace selector is allowed. Provide exactly one of: a positional namespace name, `--binding`, "
            "or `--namespace-id`."
        )
    with opened_project(where.config, where.env, where.persist_to) as project:
        try:
            namespace_id, shown = _named(project, name) if name else _known(project, *chosen(where, project.config))
        except UserError as error:
            raise UserError("Not able to delete namespace.", hint=error.message) from None
        print(f"About to delete local KV namespace {shown}.")
        print("This action is irreversible and will permanently delete all data in the KV namespace.\n")
        if not skip_confirmation and not confirmed("Ok to proceed?"):
            print("Not deleting.")
            return
        print(f"Deleting KV namespace {shown}.")
        project.do(directory.remove(project.around.store, namespace_id))
    print(f"Deleted KV namespace {shown}.")


def rename(where: Options, old_name: str | None, new_name: str | None) -> None:
    if new_name is None:
        raise UserError("Missing required argument: new-name")
    if old_name and where.namespace_id:
        raise UserError(
            "Cannot specify both a positional namespace name and `--namespace-id`. Use one or the other to identify "
            "the namespace to rename."
        )
    if not old_name and not where.namespace_id:
        raise UserError(
            "No KV namespace specified. Provide the current namespace name as a positional argument, or use "
            "`--namespace-id` to identify the namespace to rename."
        )
    if len(new_name) > MAX_TITLE_LENGTH:
        raise UserError(
            f"The new namespace name exceeds the {MAX_TITLE_LENGTH}-character limit (got {len(new_name)} characters). "
            "Provide a shorter name with `--new-name`."
        )
    with opened_project(where.config, where.env, where.persist_to) as project:
        namespace_id, _ = _named(project, old_name) if old_name else _known(project, *chosen(where, project.config))
        print(f'Renaming KV namespace {namespace_id} to "{new_name}".')
        if _titles(project)[namespace_id] != new_name:
            _refuse_taken(project, new_name)
        project.do(directory.set_title(project.around.store, namespace_id, new_name))
    print(f'✨ Successfully renamed namespace to "{new_name}"')


def _titles(project: OpenedProject) -> dict[str, str]:
    """By id. What the config names has its binding for a title, until it is renamed; what has none, its id."""
    found: dict[str, str] = {}
    for spec in cast("Sequence[KvNamespaceSpec]", project.config.specs.get("kv", ())):
        if spec.id or not spec.preview_id:
            found.setdefault(spec.id or spec.binding, spec.binding)
        if spec.preview_id:
            found.setdefault(spec.preview_id, f"{spec.binding}_preview")
    for one in directory.titles(project.around.store):
        if one.title is not None or one.id not in found:
            found[one.id] = one.title or one.id
    return found


def _named(project: OpenedProject, title: str) -> tuple[str, str]:
    for namespace_id, known in _titles(project).items():
        if known == title:
            return namespace_id, f'name: "{title}" (id: "{namespace_id}")'
    raise UserError(
        f'No KV namespace named "{title}" was found. Use `--namespace-id` or `--binding` instead, or run '
        "`flarebed kv namespace list` to see all available namespaces."
    )


def _known(project: OpenedProject, namespace_id: str, shown: str) -> tuple[str, str]:
    if namespace_id not in _titles(project):
        raise UserError(
            f'No KV namespace with the id "{namespace_id}" was found. Run `flarebed kv namespace list` to see all '
            "available namespaces."
        )
    return namespace_id, shown


def _refuse_taken(project: OpenedProject, title: str) -> None:
    if title in _titles(project).values():
        raise UserError(
            f'A KV namespace with the title "{title}" already exists.',
            hint="You can list existing namespaces with their IDs by running:\n    flarebed kv namespace list\n"
            "  Or choose a different namespace name.",
        )


def _binding_name(name: str) -> str:
    """What wrangler makes of a title: an identifier."""
    kept = re.sub(r"_+", "_", re.sub(r"[^a-zA-Z0-9_]", "", re.sub(r"[\s-]", "_", name)))
    if not kept.strip("_"):
        return "KV"
    return f"_{kept}" if kept[0].isdigit() else kept


def _show_snippet(config: Path, env: str | None, item: dict[str, Any]) -> None:
    where = f' in the "{env}" environment' if env else ""
    print(
        f"To access your new KV Namespace in your Worker, add the following snippet to your configuration file{where}:"
    )
    if config.suffix == ".toml":
        print("\n".join(["[[kv_namespaces]]", *(f"{name} = {json.dumps(value)}" for name, value in item.items())]))
    else:
        print(json.dumps({"kv_namespaces": [item]}, indent=2, ensure_ascii=False))


def _write(config: Path, env: str | None, item: dict[str, Any]) -> None:
    """wrangler edits JSON only, too."""
    if config.suffix != ".toml":
        config.write_text(with_binding(config.read_text("utf-8"), "kv_namespaces", env, item), "utf-8")
