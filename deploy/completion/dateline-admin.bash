# bash completion for dateline-admin
_dateline_admin_words() {
  case "$1" in
    '') echo 'settings tenant key pin version limit clock oauth-client connected-app user audit ledger payout settlement card-keys chain set-aside usage network backup restore reconcile help --version --help -h' ;;
    '/settings') echo '--json --help -h' ;;
    '/tenant') echo 'create show verify list move forget export import help --help -h' ;;
    '/tenant/create') echo '--json --name --plan --help -h' ;;
    '/tenant/create --plan') echo 'trial standard enterprise' ;;
    '/tenant/show') echo '--json --help -h' ;;
    '/tenant/verify') echo '--json --help -h' ;;
    '/tenant/list') echo '--json --limit --after --help -h' ;;
    '/tenant/move') echo '--json --to --hint --max-pause --back --abort --help -h' ;;
    '/tenant/forget') echo '--json --help -h' ;;
    '/tenant/export') echo '--json --to --sealed --close --max-pause --help -h' ;;
    '/tenant/import') echo '--json --help -h' ;;
    '/key') echo 'create rotate retire revoke list show help --help -h' ;;
    '/key/create') echo '--json --tenant --env --kind --scope --allow-ip --help -h' ;;
    '/key/create --env') echo 'sandbox live' ;;
    '/key/create --kind') echo 'secret publishable' ;;
    '/key/create --scope') echo 'read write admin' ;;
    '/key/rotate') echo '--json --help -h' ;;
    '/key/retire') echo '--json --help -h' ;;
    '/key/revoke') echo '--json --help -h' ;;
    '/key/list') echo '--json --tenant --env --help -h' ;;
    '/key/list --env') echo 'sandbox live' ;;
    '/key/show') echo '--json --help -h' ;;
    '/pin') echo 'set list show help --help -h' ;;
    '/pin/set') echo '--json --tenant --env --version --help -h' ;;
    '/pin/set --env') echo 'sandbox live' ;;
    '/pin/list') echo '--json --tenant --help -h' ;;
    '/pin/show') echo '--json --tenant --env --help -h' ;;
    '/pin/show --env') echo 'sandbox live' ;;
    '/version') echo 'blockers help --help -h' ;;
    '/version/blockers') echo '--json --html --help -h' ;;
    '/limit') echo 'lift list show help --help -h' ;;
    '/limit/lift') echo '--json --tenant --env --bucket --factor --hours --help -h' ;;
    '/limit/lift --env') echo 'sandbox live' ;;
    '/limit/lift --bucket') echo 'read passes_write passes_count templates_write webhooks_write account_write cards_write settlements_write webhooks_outbound concurrent_connections' ;;
    '/limit/list') echo '--json --tenant --env --help -h' ;;
    '/limit/list --env') echo 'sandbox live' ;;
    '/limit/show') echo '--json --tenant --env --bucket --help -h' ;;
    '/limit/show --env') echo 'sandbox live' ;;
    '/limit/show --bucket') echo 'read passes_write passes_count templates_write webhooks_write account_write cards_write settlements_write webhooks_outbound concurrent_connections' ;;
    '/clock') echo 'advance help --help -h' ;;
    '/clock/advance') echo '--json --seconds --help -h' ;;
    '/oauth-client') echo 'create help --help -h' ;;
    '/oauth-client/create') echo '--json --name --env --redirect-uri --scope --confidential --help -h' ;;
    '/oauth-client/create --env') echo 'sandbox live' ;;
    '/oauth-client/create --scope') echo 'read write admin pass:read pass:write card:read card:write settlement:read settlement:write' ;;
    '/connected-app') echo 'list revoke help --help -h' ;;
    '/connected-app/list') echo '--json --tenant --help -h' ;;
    '/connected-app/revoke') echo '--json --help -h' ;;
    '/user') echo 'create list show disable reset help --help -h' ;;
    '/user/create') echo '--json --tenant --email --role --help -h' ;;
    '/user/create --role') echo 'owner developer viewer' ;;
    '/user/list') echo '--json --tenant --help -h' ;;
    '/user/show') echo '--json --help -h' ;;
    '/user/disable') echo '--json --help -h' ;;
    '/user/reset') echo '--json --help -h' ;;
    '/audit') echo 'verify help --help -h' ;;
    '/audit/verify') echo '--json --tenant --env --contains --help -h' ;;
    '/audit/verify --env') echo 'sandbox live' ;;
    '/ledger') echo 'verify help --help -h' ;;
    '/ledger/verify') echo '--json --tenant --help -h' ;;
    '/payout') echo 'show held-up retry decide help --help -h' ;;
    '/payout/show') echo '--json --tenant --help -h' ;;
    '/payout/held-up') echo '--json --help -h' ;;
    '/payout/retry') echo '--json --tenant --help -h' ;;
    '/payout/decide') echo '--json --tenant --outcome --transaction --help -h' ;;
    '/payout/decide --outcome') echo 'paid failed' ;;
    '/settlement') echo 'show help --help -h' ;;
    '/settlement/show') echo '--json --tenant --help -h' ;;
    '/card-keys') echo 'rotate help --help -h' ;;
    '/card-keys/rotate') echo '--json --help -h' ;;
    '/chain') echo 'status help --help -h' ;;
    '/chain/status') echo '--json --help -h' ;;
    '/set-aside') echo 'list retry help --help -h' ;;
    '/set-aside/list') echo '--json --env --work --help -h' ;;
    '/set-aside/list --env') echo 'sandbox live' ;;
    '/set-aside/retry') echo '--json --env --work --help -h' ;;
    '/set-aside/retry --env') echo 'sandbox live' ;;
    '/usage') echo 'show help --help -h' ;;
    '/usage/show') echo '--json --tenant --env --days --help -h' ;;
    '/usage/show --env') echo 'sandbox live' ;;
    '/network') echo 'processor certificate key decode import status exceptions reconcile help --help -h' ;;
    '/network/processor') echo 'set show help --help -h' ;;
    '/network/processor/set') echo '--json --env --name --help -h' ;;
    '/network/processor/set --env') echo 'sandbox live' ;;
    '/network/processor/show') echo '--json --env --help -h' ;;
    '/network/processor/show --env') echo 'sandbox live' ;;
    '/network/certificate') echo 'add list retire help --help -h' ;;
    '/network/certificate/add') echo '--json --env --file --help -h' ;;
    '/network/certificate/add --env') echo 'sandbox live' ;;
    '/network/certificate/list') echo '--json --env --help -h' ;;
    '/network/certificate/list --env') echo 'sandbox live' ;;
    '/network/certificate/retire') echo '--json --help -h' ;;
    '/network/key') echo 'create list retire help --help -h' ;;
    '/network/key/create') echo '--json --env --help -h' ;;
    '/network/key/create --env') echo 'sandbox live' ;;
    '/network/key/list') echo '--json --env --help -h' ;;
    '/network/key/list --env') echo 'sandbox live' ;;
    '/network/key/retire') echo '--json --help -h' ;;
    '/network/decode') echo '--file --dialect --help -h' ;;
    '/network/decode --dialect') echo 'ascii bcd' ;;
    '/network/import') echo '--json --format --help -h' ;;
    '/network/import --format') echo 'jsonl csv' ;;
    '/network/status') echo '--json --help -h' ;;
    '/network/exceptions') echo '--json --open --resolve --note --retry --help -h' ;;
    '/network/reconcile') echo '--json --env --date --report --help -h' ;;
    '/network/reconcile --env') echo 'sandbox live' ;;
    '/backup') echo '--json --to --keep --list --check --help -h' ;;
    '/restore') echo '--json --from --to --backup --timeline --pg-wal --help -h' ;;
    '/reconcile') echo '--json --apply --leave-unknown --since --help -h' ;;
    *) return 1 ;;
  esac
}
_dateline_admin() {
  local place= word previous="${COMP_WORDS[COMP_CWORD-1]}"
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    _dateline_admin_words "$place/$word" >/dev/null && place+="/$word"
  done
  COMPREPLY=($(compgen -W "$(_dateline_admin_words "$place $previous" || _dateline_admin_words "$place")" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _dateline_admin dateline-admin
