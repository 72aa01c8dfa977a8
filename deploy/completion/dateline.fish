# fish completion for dateline
function _dateline_words
  switch $argv[1]
    case ''
      printf '%s\n' generate check build diff prove init adopt explain freeze new-version rename-version remove-version new-resource watch replay mock mcp stub docs help --config --json --format --help -h
    case ' --format'
      printf '%s\n' text json github sarif
    case '/generate'
      printf '%s\n' --json --format --dry-run --fix --help -h
    case '/generate --format'
      printf '%s\n' text json github sarif
    case '/check'
      printf '%s\n' --json --format --help -h
    case '/check --format'
      printf '%s\n' text json github sarif
    case '/build'
      printf '%s\n' --json --format --help -h
    case '/build --format'
      printf '%s\n' text json github sarif
    case '/diff'
      printf '%s\n' --json --format --markdown --since --help -h
    case '/diff --format'
      printf '%s\n' text json github sarif
    case '/prove'
      printf '%s\n' --json --format --seconds --seed --help -h
    case '/prove --format'
      printf '%s\n' text json github sarif
    case '/init'
      printf '%s\n' --json --format --framework --date --help -h
    case '/init --format'
      printf '%s\n' text json github sarif
    case '/init --framework'
      printf '%s\n' node express fastify hono
    case '/adopt'
      printf '%s\n' --json --format --date --help -h
    case '/adopt --format'
      printf '%s\n' text json github sarif
    case '/explain'
      printf '%s\n' --json --format --help -h
    case '/explain --format'
      printf '%s\n' text json github sarif
    case '/freeze'
      printf '%s\n' --json --format --from --help -h
    case '/freeze --format'
      printf '%s\n' text json github sarif
    case '/new-version'
      printf '%s\n' --json --format --help -h
    case '/new-version --format'
      printf '%s\n' text json github sarif
    case '/rename-version'
      printf '%s\n' --json --format --unpublished --dry-run --help -h
    case '/rename-version --format'
      printf '%s\n' text json github sarif
    case '/remove-version'
      printf '%s\n' --json --format --changes --unpublished --dry-run --help -h
    case '/remove-version --format'
      printf '%s\n' text json github sarif
    case '/new-resource'
      printf '%s\n' --json --format --like --prefix --singular --operations --events --properties --scope --rate-limit --help -h
    case '/new-resource --format'
      printf '%s\n' text json github sarif
    case '/watch'
      printf '%s\n' --json --format --help -h
    case '/watch --format'
      printf '%s\n' text json github sarif
    case '/replay'
      printf '%s\n' --json --format --from --to --caller --help -h
    case '/replay --format'
      printf '%s\n' text json github sarif
    case '/mock'
      printf '%s\n' --json --format --version --port --host --seed --help -h
    case '/mock --format'
      printf '%s\n' text json github sarif
    case '/mcp'
      printf '%s\n' --json --format --version --base-url --tag --allow --scopes --key-env --live --port --help -h
    case '/mcp --format'
      printf '%s\n' text json github sarif
    case '/stub'
      printf '%s\n' --json --format --list --help -h
    case '/stub --format'
      printf '%s\n' text json github sarif
    case '/docs'
      printf '%s\n' --json --format --out --help -h
    case '/docs --format'
      printf '%s\n' text json github sarif
    case '*'
      return 1
  end
end
function _dateline
  set -l typed (commandline -opc)
  set -l place ''
  for word in $typed[2..-1]
    _dateline_words "$place/$word" >/dev/null; and set place "$place/$word"
  end
  _dateline_words "$place $typed[-1]"; or _dateline_words "$place"
end
complete -c dateline -f -a '(_dateline)'
