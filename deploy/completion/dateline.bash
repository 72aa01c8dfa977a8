# bash completion for dateline
_dateline_words() {
  case "$1" in
    '') echo 'generate check build diff prove init adopt explain freeze new-version rename-version remove-version new-resource watch replay mock mcp stub docs help --config --json --format --help -h' ;;
    ' --format') echo 'text json github sarif' ;;
    '/generate') echo '--json --format --dry-run --fix --help -h' ;;
    '/generate --format') echo 'text json github sarif' ;;
    '/check') echo '--json --format --help -h' ;;
    '/check --format') echo 'text json github sarif' ;;
    '/build') echo '--json --format --help -h' ;;
    '/build --format') echo 'text json github sarif' ;;
    '/diff') echo '--json --format --markdown --since --help -h' ;;
    '/diff --format') echo 'text json github sarif' ;;
    '/prove') echo '--json --format --seconds --seed --help -h' ;;
    '/prove --format') echo 'text json github sarif' ;;
    '/init') echo '--json --format --framework --date --help -h' ;;
    '/init --format') echo 'text json github sarif' ;;
    '/init --framework') echo 'node express fastify hono' ;;
    '/adopt') echo '--json --format --date --help -h' ;;
    '/adopt --format') echo 'text json github sarif' ;;
    '/explain') echo '--json --format --help -h' ;;
    '/explain --format') echo 'text json github sarif' ;;
    '/freeze') echo '--json --format --from --help -h' ;;
    '/freeze --format') echo 'text json github sarif' ;;
    '/new-version') echo '--json --format --help -h' ;;
    '/new-version --format') echo 'text json github sarif' ;;
    '/rename-version') echo '--json --format --unpublished --dry-run --help -h' ;;
    '/rename-version --format') echo 'text json github sarif' ;;
    '/remove-version') echo '--json --format --changes --unpublished --dry-run --help -h' ;;
    '/remove-version --format') echo 'text json github sarif' ;;
    '/new-resource') echo '--json --format --like --prefix --singular --operations --events --properties --scope --rate-limit --help -h' ;;
    '/new-resource --format') echo 'text json github sarif' ;;
    '/watch') echo '--json --format --help -h' ;;
    '/watch --format') echo 'text json github sarif' ;;
    '/replay') echo '--json --format --from --to --caller --help -h' ;;
    '/replay --format') echo 'text json github sarif' ;;
    '/mock') echo '--json --format --version --port --host --seed --help -h' ;;
    '/mock --format') echo 'text json github sarif' ;;
    '/mcp') echo '--json --format --version --base-url --tag --allow --scopes --key-env --live --port --help -h' ;;
    '/mcp --format') echo 'text json github sarif' ;;
    '/stub') echo '--json --format --list --help -h' ;;
    '/stub --format') echo 'text json github sarif' ;;
    '/docs') echo '--json --format --out --help -h' ;;
    '/docs --format') echo 'text json github sarif' ;;
    *) return 1 ;;
  esac
}
_dateline() {
  local place= word previous="${COMP_WORDS[COMP_CWORD-1]}"
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    _dateline_words "$place/$word" >/dev/null && place+="/$word"
  done
  COMPREPLY=($(compgen -W "$(_dateline_words "$place $previous" || _dateline_words "$place")" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _dateline dateline
