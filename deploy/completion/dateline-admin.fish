# fish completion for dateline-admin
function _dateline_admin_words
  switch $argv[1]
    case ''
      printf '%s\n' settings tenant key pin version limit clock oauth-client connected-app user audit ledger payout settlement card-keys chain set-aside usage network backup restore reconcile help --version --help -h
    case '/settings'
      printf '%s\n' --json --help -h
    case '/tenant'
      printf '%s\n' create show verify list move forget export import help --help -h
    case '/tenant/create'
      printf '%s\n' --json --name --plan --help -h
    case '/tenant/create --plan'
      printf '%s\n' trial standard enterprise
    case '/tenant/show'
      printf '%s\n' --json --help -h
    case '/tenant/verify'
      printf '%s\n' --json --help -h
    case '/tenant/list'
      printf '%s\n' --json --limit --after --help -h
    case '/tenant/move'
      printf '%s\n' --json --to --hint --max-pause --back --abort --help -h
    case '/tenant/forget'
      printf '%s\n' --json --help -h
    case '/tenant/export'
      printf '%s\n' --json --to --sealed --close --max-pause --help -h
    case '/tenant/import'
      printf '%s\n' --json --help -h
    case '/key'
      printf '%s\n' create rotate retire revoke list show help --help -h
    case '/key/create'
      printf '%s\n' --json --tenant --env --kind --scope --allow-ip --help -h
    case '/key/create --env'
      printf '%s\n' sandbox live
    case '/key/create --kind'
      printf '%s\n' secret publishable
    case '/key/create --scope'
      printf '%s\n' read write admin
    case '/key/rotate'
      printf '%s\n' --json --help -h
    case '/key/retire'
      printf '%s\n' --json --help -h
    case '/key/revoke'
      printf '%s\n' --json --help -h
    case '/key/list'
      printf '%s\n' --json --tenant --env --help -h
    case '/key/list --env'
      printf '%s\n' sandbox live
    case '/key/show'
      printf '%s\n' --json --help -h
    case '/pin'
      printf '%s\n' set list show help --help -h
    case '/pin/set'
      printf '%s\n' --json --tenant --env --version --help -h
    case '/pin/set --env'
      printf '%s\n' sandbox live
    case '/pin/list'
      printf '%s\n' --json --tenant --help -h
    case '/pin/show'
      printf '%s\n' --json --tenant --env --help -h
    case '/pin/show --env'
      printf '%s\n' sandbox live
    case '/version'
      printf '%s\n' blockers help --help -h
    case '/version/blockers'
      printf '%s\n' --json --html --help -h
    case '/limit'
      printf '%s\n' lift list show help --help -h
    case '/limit/lift'
      printf '%s\n' --json --tenant --env --bucket --factor --hours --help -h
    case '/limit/lift --env'
      printf '%s\n' sandbox live
    case '/limit/lift --bucket'
      printf '%s\n' read passes_write passes_count templates_write webhooks_write account_write cards_write settlements_write webhooks_outbound concurrent_connections
    case '/limit/list'
      printf '%s\n' --json --tenant --env --help -h
    case '/limit/list --env'
      printf '%s\n' sandbox live
    case '/limit/show'
      printf '%s\n' --json --tenant --env --bucket --help -h
    case '/limit/show --env'
      printf '%s\n' sandbox live
    case '/limit/show --bucket'
      printf '%s\n' read passes_write passes_count templates_write webhooks_write account_write cards_write settlements_write webhooks_outbound concurrent_connections
    case '/clock'
      printf '%s\n' advance help --help -h
    case '/clock/advance'
      printf '%s\n' --json --seconds --help -h
    case '/oauth-client'
      printf '%s\n' create help --help -h
    case '/oauth-client/create'
      printf '%s\n' --json --name --env --redirect-uri --scope --confidential --help -h
    case '/oauth-client/create --env'
      printf '%s\n' sandbox live
    case '/oauth-client/create --scope'
      printf '%s\n' read write admin pass:read pass:write card:read card:write settlement:read settlement:write
    case '/connected-app'
      printf '%s\n' list revoke help --help -h
    case '/connected-app/list'
      printf '%s\n' --json --tenant --help -h
    case '/connected-app/revoke'
      printf '%s\n' --json --help -h
    case '/user'
      printf '%s\n' create list show disable reset help --help -h
    case '/user/create'
      printf '%s\n' --json --tenant --email --role --help -h
    case '/user/create --role'
      printf '%s\n' owner developer viewer
    case '/user/list'
      printf '%s\n' --json --tenant --help -h
    case '/user/show'
      printf '%s\n' --json --help -h
    case '/user/disable'
      printf '%s\n' --json --help -h
    case '/user/reset'
      printf '%s\n' --json --help -h
    case '/audit'
      printf '%s\n' verify help --help -h
    case '/audit/verify'
      printf '%s\n' --json --tenant --env --contains --help -h
    case '/audit/verify --env'
      printf '%s\n' sandbox live
    case '/ledger'
      printf '%s\n' verify help --help -h
    case '/ledger/verify'
      printf '%s\n' --json --tenant --help -h
    case '/payout'
      printf '%s\n' show held-up retry decide help --help -h
    case '/payout/show'
      printf '%s\n' --json --tenant --help -h
    case '/payout/held-up'
      printf '%s\n' --json --help -h
    case '/payout/retry'
      printf '%s\n' --json --tenant --help -h
    case '/payout/decide'
      printf '%s\n' --json --tenant --outcome --transaction --help -h
    case '/payout/decide --outcome'
      printf '%s\n' paid failed
    case '/settlement'
      printf '%s\n' show help --help -h
    case '/settlement/show'
      printf '%s\n' --json --tenant --help -h
    case '/card-keys'
      printf '%s\n' rotate help --help -h
    case '/card-keys/rotate'
      printf '%s\n' --json --help -h
    case '/chain'
      printf '%s\n' status help --help -h
    case '/chain/status'
      printf '%s\n' --json --help -h
    case '/set-aside'
      printf '%s\n' list retry help --help -h
    case '/set-aside/list'
      printf '%s\n' --json --env --work --help -h
    case '/set-aside/list --env'
      printf '%s\n' sandbox live
    case '/set-aside/retry'
      printf '%s\n' --json --env --work --help -h
    case '/set-aside/retry --env'
      printf '%s\n' sandbox live
    case '/usage'
      printf '%s\n' show help --help -h
    case '/usage/show'
      printf '%s\n' --json --tenant --env --days --help -h
    case '/usage/show --env'
      printf '%s\n' sandbox live
    case '/network'
      printf '%s\n' processor certificate key decode import status exceptions reconcile help --help -h
    case '/network/processor'
      printf '%s\n' set show help --help -h
    case '/network/processor/set'
      printf '%s\n' --json --env --name --help -h
    case '/network/processor/set --env'
      printf '%s\n' sandbox live
    case '/network/processor/show'
      printf '%s\n' --json --env --help -h
    case '/network/processor/show --env'
      printf '%s\n' sandbox live
    case '/network/certificate'
      printf '%s\n' add list retire help --help -h
    case '/network/certificate/add'
      printf '%s\n' --json --env --file --help -h
    case '/network/certificate/add --env'
      printf '%s\n' sandbox live
    case '/network/certificate/list'
      printf '%s\n' --json --env --help -h
    case '/network/certificate/list --env'
      printf '%s\n' sandbox live
    case '/network/certificate/retire'
      printf '%s\n' --json --help -h
    case '/network/key'
      printf '%s\n' create list retire help --help -h
    case '/network/key/create'
      printf '%s\n' --json --env --help -h
    case '/network/key/create --env'
      printf '%s\n' sandbox live
    case '/network/key/list'
      printf '%s\n' --json --env --help -h
    case '/network/key/list --env'
      printf '%s\n' sandbox live
    case '/network/key/retire'
      printf '%s\n' --json --help -h
    case '/network/decode'
      printf '%s\n' --file --dialect --help -h
    case '/network/decode --dialect'
      printf '%s\n' ascii bcd
    case '/network/import'
      printf '%s\n' --json --format --help -h
    case '/network/import --format'
      printf '%s\n' jsonl csv
    case '/network/status'
      printf '%s\n' --json --help -h
    case '/network/exceptions'
      printf '%s\n' --json --open --resolve --note --retry --help -h
    case '/network/reconcile'
      printf '%s\n' --json --env --date --report --help -h
    case '/network/reconcile --env'
      printf '%s\n' sandbox live
    case '/backup'
      printf '%s\n' --json --to --keep --list --check --help -h
    case '/restore'
      printf '%s\n' --json --from --to --backup --timeline --pg-wal --help -h
    case '/reconcile'
      printf '%s\n' --json --apply --leave-unknown --since --help -h
    case '*'
      return 1
  end
end
function _dateline_admin
  set -l typed (commandline -opc)
  set -l place ''
  for word in $typed[2..-1]
    _dateline_admin_words "$place/$word" >/dev/null; and set place "$place/$word"
  end
  _dateline_admin_words "$place $typed[-1]"; or _dateline_admin_words "$place"
end
complete -c dateline-admin -f -a '(_dateline_admin)'
