"""The compatibility flags of workerd 1.20261117.1, in the order in which it compiles them.

Columns: the flag that enables, the flag that disables or "-", the compatibility date from which it is on or "-"; then
"experimental", or "with FLAGS since DATE": from that date on it is on wherever one of FLAGS is. `flags.py` reads it.
Source: workerd src/workerd/io/compatibility-date.capnp.
"""

from __future__ import annotations

DEFAULT_DATE = "2026-11-17"
"""What wrangler 4.164 takes when the config names no date: the release of its workerd."""

NEWEST_DATE = "2026-11-24"
"""The latest date that this workerd knows."""

TABLE = """
formdata_parser_supports_files formdata_parser_converts_files_to_strings 2021-11-03
fetch_refuses_unknown_protocols fetch_treats_unknown_protocols_as_http 2021-11-10
html_rewriter_treats_esi_include_as_void_tag - -
durable_object_fetch_requires_full_url durable_object_fetch_allows_relative_url 2021-11-10
streams_byob_reader_detaches_buffer streams_byob_reader_does_not_detach_buffer 2021-11-10
streams_enable_constructors streams_disable_constructors 2022-11-30
workers_api_getters_setters_on_prototype workers_api_getters_setters_on_instance 2022-01-31
minimal_subrequests no_minimal_subrequests 2022-04-05
no_cots_on_external_fetch cots_on_external_fetch 2022-03-08
url_standard url_original 2022-10-31
global_navigator no_global_navigator 2022-03-21
capture_async_api_throws do_not_capture_async_api_throws 2022-10-31
r2_public_beta_bindings r2_internal_beta_bindings -
durable_object_alarms - -
dont_substitute_null_on_type_error substitute_null_on_type_error 2022-06-01
transformstream_enable_standard_constructor transformstream_disable_standard_constructor 2022-11-30
r2_list_honor_include - 2022-08-04
export_commonjs_default export_commonjs_namespace 2022-10-31
durable_object_rename - - experimental
web_socket_compression no_web_socket_compression 2023-08-15
nodejs_compat no_nodejs_compat 2026-08-04
tcp_sockets_support - -
response_redirect_url_standard response_redirect_url_original 2023-03-14
experimental - - experimental
durable_object_get_existing - - experimental
http_headers_getsetcookie no_http_headers_getsetcookie 2023-03-01
dynamic_dispatch_tunnel_exceptions dynamic_dispatch_treat_exceptions_as_500 2023-03-01
service_binding_extra_handlers - - experimental
no_cf_botmanagement_default cf_botmanagement_default 2023-08-01
urlsearchparams_delete_has_value_arg no_urlsearchparams_delete_has_value_arg 2023-07-01
strict_compression_checks no_strict_compression_checks 2023-08-01
brotli_content_encoding no_brotli_content_encoding 2024-04-29
strict_crypto_checks no_strict_crypto_checks 2023-08-01
rtti_api - - experimental
webgpu - - experimental
crypto_preserve_public_exponent no_crypto_preserve_public_exponent 2023-12-01
vectorize_query_metadata_optional vectorize_query_original 2023-11-08
unsafe_module - - experimental
js_rpc - - experimental
no_global_importscripts global_importscripts 2024-03-04
nodejs_als no_nodejs_als -
queues_json_messages no_queues_json_messages 2024-03-18
python_workers - - with python_workers_development since 2000-01-01
fetcher_no_get_put_delete fetcher_has_get_put_delete 2024-03-26
unwrap_custom_thenables no_unwrap_custom_thenables 2024-04-01
rpc no_rpc 2024-04-03
internal_stream_byob_return_view internal_stream_byob_return_undefined 2024-05-13
blob_standard_mime_type blob_legacy_mime_type 2024-06-03
fetch_standard_url fetch_legacy_url 2024-06-03
nodejs_compat_v2 no_nodejs_compat_v2 2026-08-04 with nodejs_compat since 2024-09-23
global_fetch_strictly_public global_fetch_private_origin -
new_module_registry legacy_module_registry 2026-11-17
cache_option_enabled cache_option_disabled 2024-11-11
kv_direct_binding - - experimental
allow_custom_ports ignore_custom_ports 2024-09-02
increase_websocket_message_size - - experimental
internal_writable_stream_abort_clears_queue internal_writable_stream_abort_does_not_clear_queue 2024-09-02
python_workers_development - - experimental
nodejs_zlib no_nodejs_zlib - with nodejs_compat nodejs_compat_v2 since 2024-09-23
replica_routing - - experimental
enable_d1_with_sessions_api - - experimental
handle_cross_request_promise_resolution no_handle_cross_request_promise_resolution 2024-10-14
set_tostring_tag do_not_set_tostring_tag 2024-09-26
upper_case_all_http_methods no_upper_case_all_http_methods 2024-10-14
python_external_packages - -
disable_top_level_await_in_require enable_top_level_await_in_require 2024-12-02
fixup-transform-stream-backpressure original-transform-stream-backpressure 2024-12-16
tail_worker_user_spans - - experimental
cache_no_cache_enabled cache_no_cache_disabled - with cache_option_enabled since 2025-08-07
python_workers_20250116 no_python_workers_20250116 - with python_workers since 2025-09-29
request_cf_overrides_cache_rules no_request_cf_overrides_cache_rules 2025-04-02
memory_cache_delete - - experimental
unique_ctx_per_invocation - 2025-03-10
nonclass_entrypoint_reuses_ctx_across_invocations - -
queue_consumer_no_wait_for_wait_until queue_consumer_wait_for_wait_until -
nodejs_compat_populate_process_env nodejs_compat_do_not_populate_process_env - with nodejs_compat since 2025-04-01
cache_api_request_cf_overrides_cache_rules no_cache_api_request_cf_overrides_cache_rules 2025-05-19
disallow_importable_env allow_importable_env -
assets_navigation_prefers_asset_serving assets_navigation_has_no_effect 2025-04-01
cache_api_compat_flags no_cache_api_compat_flags 2025-04-19
python_workers_durable_objects - - experimental
streaming_tail_worker - - experimental
urlpattern_standard urlpattern_original 2025-05-01
enable_weak_ref disable_weak_ref 2025-05-05
request_signal_passthrough no_request_signal_passthrough -
enable_navigator_language disable_navigator_language 2025-05-19
enable_web_file_system - - experimental
enable_abortsignal_rpc - - experimental
allow_eval_during_startup disallow_eval_during_startup 2025-06-01
enable_request_signal disable_request_signal 2026-11-17
connect_pass_through - - experimental
bind_asynclocalstorage_snapshot_to_request do_not_bind_asynclocalstorage_snapshot_to-request 2025-06-16
throw_on_unrecognized_import_assertion ignore_unrecognized_import_assertion 2025-06-16
python_workflows disable_python_workflows - with python_workers since 2025-09-20
unsupported_process_actual_platform - - experimental
enable_nodejs_process_v2 disable_nodejs_process_v2 - with nodejs_compat since 2025-09-15
set_event_target_this no_set_event_target_this 2025-08-01
set_forwardable_email_full_headers set_forwardable_email_single_headers 2025-08-01
enable_nodejs_http_modules disable_nodejs_http_modules - with nodejs_compat since 2025-08-15
pedantic_wpt non_pedantic_wpt -
expose_global_message_channel no_expose_global_message_channel 2025-08-15
enable_nodejs_http_server_modules disable_nodejs_http_server_modules - with enable_nodejs_http_modules since 2025-09-01
python_no_global_handlers disable_python_no_global_handlers 2025-08-14
enable_nodejs_fs_module disable_nodejs_fs_module - with nodejs_compat since 2025-09-15
enable_nodejs_os_module disable_nodejs_os_module - with nodejs_compat since 2025-09-15
python_workers_force_new_vendor_path - 2025-08-11
remove_nodejs_compat_eol add_nodejs_compat_eol - with nodejs_compat since 2025-09-01
enable_validate_workflow_entrypoint disable_validate_workflow_entrypoint 2025-09-20
python_dedicated_snapshot disable_python_dedicated_snapshot - with python_workers_20250116 since 2025-10-16
typescript_strip_types - - experimental
enable_nodejs_http2_module disable_nodejs_http2_module - with nodejs_compat since 2025-09-01
allow_insecure_inefficient_logged_eval - - experimental
strip_authorization_on_cross_origin_redirect retain_authorization_on_cross_origin_redirect 2025-09-01
enhanced_error_serialization legacy_error_serialization 2026-04-21
enable_email_sending_queuing disable_email_sending_queuing -
remove_nodejs_compat_eol_v22 add_nodejs_compat_eol_v22 - with remove_nodejs_compat_eol since 2027-04-30
remove_nodejs_compat_eol_v23 add_nodejs_compat_eol_v23 - with remove_nodejs_compat_eol_v24 since 2025-09-01
remove_nodejs_compat_eol_v24 add_nodejs_compat_eol_v24 - with remove_nodejs_compat_eol since 2028-04-30
enable_nodejs_console_module disable_nodejs_console_module - with nodejs_compat since 2025-09-21
enable_nodejs_vm_module disable_nodejs_vm_module - with nodejs_compat since 2025-10-01
enable_nodejs_perf_hooks_module disable_nodejs_perf_hooks_module - with nodejs_compat since 2026-03-17
enable_global_performance_classes disable_global_performance_classes - with nodejs_compat since 2026-03-17
enable_nodejs_domain_module disable_nodejs_domain_module - with nodejs_compat since 2025-12-04
enable_nodejs_v8_module disable_nodejs_v8_module - with nodejs_compat since 2026-03-17
enable_nodejs_tty_module disable_nodejs_tty_module - with nodejs_compat since 2026-03-17
enable_nodejs_punycode_module disable_nodejs_punycode_module - with nodejs_compat since 2025-12-04
enable_nodejs_cluster_module disable_nodejs_cluster_module - with nodejs_compat since 2025-12-04
enable_nodejs_child_process_module disable_nodejs_child_process_module - with nodejs_compat since 2026-03-17
enable_nodejs_worker_threads_module disable_nodejs_worker_threads_module - with nodejs_compat since 2026-03-17
enable_nodejs_stream_wrap_module disable_nodejs_stream_wrap_module - with nodejs_compat since 2026-01-29
enable_nodejs_wasi_module disable_nodejs_wasi_module - with nodejs_compat since 2025-12-04
enable_nodejs_dgram_module disable_nodejs_dgram_module - with nodejs_compat since 2026-01-29
enable_nodejs_inspector_module disable_nodejs_inspector_module - with nodejs_compat since 2026-01-29
enable_nodejs_trace_events_module disable_nodejs_trace_events_module - with nodejs_compat since 2025-12-04
enable_nodejs_readline_module disable_nodejs_readline_module - with nodejs_compat since 2026-03-17
enable_nodejs_repl_module disable_nodejs_repl_module - with nodejs_compat since 2026-03-17
enable_nodejs_sqlite_module disable_nodejs_sqlite_module - with nodejs_compat since 2026-01-29
enable_ctx_exports disable_ctx_exports 2025-11-17
enable_python_external_sdk disable_python_external_sdk 2026-04-21
enable_fast_jsg_struct disable_fast_jsg_struct 2025-12-03
cache_reload_enabled cache_reload_disabled - experimental
enable_streams_nodejs_v24_compat disable_streams_nodejs_v24_compat -
python_check_rng_state disable_python_check_rng_state - with python_workers since 2025-12-16
immutable_api_prototypes mutable_api_prototypes -
fetch_iterable_type_support no_fetch_iterable_type_support 2026-02-19
env_module_nullable_support no_env_module_nullable_support -
precise_timers no_precise_timers - experimental
fetch_iterable_type_support_override_adjustment no_fetch_iterable_type_support_override_adjustment - with fetch_iterable_type_support since 2026-01-15
strip_bom_in_read_all_text do_not_strip_bom_in_read_all_text 2026-01-13 with pedantic_wpt since 2026-01-13
allow_irrevocable_stub_storage - -
rpc_params_dup_stubs rpc_params_transfer_stubs 2026-01-20
enable_nodejs_global_timers no_nodejs_global_timers - with nodejs_compat since 2026-02-10
streams_no_default_auto_allocate_chunk_size streams_auto_allocate_chunk_size_default - experimental
python_workflows_implicit_dependencies no_python_workflows_implicit_dependencies - with python_workers since 2026-02-25
require_returns_default_export require_returns_namespace 2026-01-22
python_request_headers_preserve_commas disable_python_request_headers_preserve_commas 2026-02-17
queue_expose_error_codes no_queue_expose_error_codes 2026-03-12
text_decoder_replace_surrogates disable_text_decoder_replace_surrogates 2026-02-24 with pedantic_wpt since 2026-02-24
containers_pid_namespace no_containers_pid_namespace 2026-04-01
delete_all_deletes_alarm delete_all_preserves_alarm 2026-02-24
unhandled_rejection_after_microtask_checkpoint no_unhandled_rejection_after_microtask_checkpoint 2026-03-03
text_decoder_cjk_decoder disable_text_decoder_cjk_decoder 2026-03-03
websocket_close_reason_byte_limit no_websocket_close_reason_byte_limit 2026-03-03
enable_version_api - - experimental
websocket_standard_binary_type no_websocket_standard_binary_type 2026-03-17
writable_stream_spec_compliant_writer no_writable_stream_spec_compliant_writer 2026-03-24
encoder_stream_spec_compliant_backpressure no_encoder_stream_spec_compliant_backpressure 2026-03-24
spec_compliant_property_attributes no_spec_compliant_property_attributes - experimental
workflows_preserve_non_retryable_error_message workflows_replace_non_retryable_error_message 2026-05-14
web_socket_auto_reply_to_close web_socket_manual_reply_to_close 2026-04-07
enable_ctx_version_metadata - - experimental
no_resizable_array_buffer_in_blob resizable_array_buffer_in_blob -
diagnostics_channel_has_subscribers_getter no_diagnostics_channel_has_subscribers_getter 2026-05-19
workflows_step_rollback - - experimental
python_process_pth_files disable_python_process_pth_files 2026-05-26
throw_on_not_implemented_tls_options no_throw_on_not_implemented_tls_options 2026-06-16
auto_grpc_convert - -
python_workers_20260610 no_python_workers_20260610 -
enable_nodejs_inspector_local_dev - - experimental
d1_binding_jsrpc - - experimental
workflows_bindings_rpc - - experimental
typescript_implemented_streams - - experimental
expose_draining_reader - - experimental
workflows_enable_fast_engine_creation workflows_disable_fast_engine_creation 2026-08-11
wasm_memory_discard - - experimental
python_workers_314 no_python_workers_314 - with python_workers since 2026-09-08
spec_compliant_dispatch_exceptions no_spec_compliant_dispatch_exceptions 2026-09-15
auto_inject_python_workers no_auto_inject_python_workers - experimental
durable_object_io_tasks_prevent_eviction durable_object_io_tasks_do_not_prevent_eviction 2026-10-01
webcrypto_modern_algorithms - -
wasm_esm_integration_builtins - -
pipe_to_backward_propagation no_pipe_to_backward_propagation 2026-11-17
cache_option_preserves_cache_control cache_option_overrides_cache_control 2026-11-17
durable_object_snapshots - - experimental
connect_handler_starttls - - experimental
offpeak_location_hint - - experimental
python_shared_standard_library - - with python_workers since 2026-11-19
wasm_source_url_support no_wasm_source_url_support 2026-12-01
temporal no_temporal 2026-12-01
python_zstd_snapshot - - experimental
nodejs_process_version_24 no_nodejs_process_version_24 2026-11-24
r2_binding_jsrpc - - experimental
rpc_dispose_cancels_call - - experimental
expose_serialization_test_class - - experimental
python_dedicated_snapshot_keep_import_caches no_python_dedicated_snapshot_keep_import_caches -
"""  # noqa: E501
