import type { DescribedArg, DescribedCommand } from './describe.ts'

/** The shells with a completion script for commands, flags, their values, and file names. */
export type Shell = 'bash' | 'zsh' | 'fish'

/** The completion script for `described`. Pressing Tab starts no process of ours. */
export function completionFor(shell: Shell, described: DescribedCommand[]): string {
  return { bash, zsh, fish }[shell](described)
}

function bash(described: DescribedCommand[]): string {
  const words = described.map(({ path, commands, flags }) =>
    [
      `    ${quote(path)})`,
      `      commands=${quote(commands.join(' '))}`,
      `      flags=${quote([...flags.map(({ name }) => `--${name}`), '--help'].join(' '))} ;;`,
    ].join('\n'),
  )
  return `_chat_server() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  local at=chat-server commands flags i IFS=$' \\t\\n'
  # bash takes --flag=value apart.
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${paths(described).map(quote).join('|')}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$at $prev" in
${valued(described, (flag, patterns) => `    ${patterns.map(quote).join('|')}) ${bashValues(flag)}; return ;;`)}
  esac
  case "$at" in
${words.join('\n')}
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  else
    case "$at" in
      ${takingFiles(described).map(quote).join('|')}) ${BASH_FILES} ;;
    esac
    [[ -z $commands ]] || COMPREPLY+=($(IFS=' '; compgen -W "$commands" -- "$cur"))
  fi
}
complete -F _chat_server chat-server
`
}

const BASH_FILES = `IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null`

function bashValues({ choices, hint }: DescribedArg): string {
  if (choices) return `COMPREPLY=($(compgen -W ${quote(choices.join(' '))} -- "$cur"))`
  return hint === 'file' ? BASH_FILES : ':'
}

function zsh(described: DescribedCommand[]): string {
  const byPath = new Map(described.map((command) => [command.path, command]))
  const entry = (name: string, text: string) => quote(`${name.replaceAll(':', '\\:')}:${text}`)
  const words = described.map(({ path, commands, flags }) =>
    [
      `    ${quote(path)})`,
      `      commands=(${commands.map((name) => entry(name, byPath.get(`${path} ${name}`)!.description)).join(' ')})`,
      `      flags=(${[...flags.map(({ name, description }) => entry(`--${name}`, description)), entry('--help', 'Show the usage')].join(' ')}) ;;`,
    ].join('\n'),
  )
  return `#compdef chat-server

_chat-server() {
  local at=chat-server word prev=\${words[CURRENT-1]}
  local -a commands flags
  if [[ \${words[CURRENT]} == --*=* ]]; then prev=\${words[CURRENT]%%=*}; compset -P '*='; fi
  for word in \${words[2,CURRENT-1]}; do
    case "$at $word" in
      ${paths(described).map(quote).join('|')}) at="$at $word" ;;
    esac
  done
  case "$at $prev" in
${valued(described, (flag, patterns) => `    ${patterns.map(quote).join('|')}) ${zshValues(flag)}; return ;;`)}
  esac
  case "$at" in
${words.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe flag flags
  else
    (( ! $#commands )) || _describe command commands
    case "$at" in
      ${takingFiles(described).map(quote).join('|')}) _files ;;
    esac
  fi
}

if [[ $funcstack[1] == _chat-server ]]; then _chat-server "$@"; else compdef _chat-server chat-server; fi
`
}

function zshValues({ choices, hint }: DescribedArg): string {
  if (choices) return `compadd -- ${choices.map(quote).join(' ')}`
  return hint === 'file' ? '_files' : ':'
}

function fish(described: DescribedCommand[]): string {
  const byPath = new Map(described.map((command) => [command.path, command]))
  const lines = described.flatMap(({ path, commands, flags }) => {
    const here = `complete -c chat-server -n ${fishQuote(`__chat_server_at ${fishQuote(path)}`)}`
    return [
      ...commands.map((name) => `${here} -a ${name} -d ${fishQuote(byPath.get(`${path} ${name}`)!.description)}`),
      ...flags.map((flag) => `${here} -l ${flag.name}${fishValues(flag)} -d ${fishQuote(flag.description)}`),
      `${here} -l help -d 'Show the usage'`,
    ]
  })
  const files = takingFiles(described).map(
    (path) => `complete -c chat-server -n ${fishQuote(`__chat_server_at ${fishQuote(path)}`)} -F`,
  )
  return `function __chat_server_at
  set -l at chat-server
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${paths(described).map(fishQuote).join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end

complete -c chat-server -f
${[...lines, ...files].join('\n')}
`
}

function fishValues({ isSwitch, choices, hint }: DescribedArg): string {
  if (isSwitch) return ''
  if (choices) return ` -x -a ${fishQuote(choices.join(' '))}`
  return hint === 'file' ? ' -r -F' : ' -x'
}

/** The paths of all commands but the program itself. */
function paths(described: DescribedCommand[]): string[] {
  return described.slice(1).map(({ path }) => path)
}

/** A line for each kind of flag that takes a value, with `<path> --<flag>` of every command that has it. */
function valued(described: DescribedCommand[], toLine: (flag: DescribedArg, patterns: string[]) => string): string {
  const kinds = new Map<string, { flag: DescribedArg; patterns: string[] }>()
  for (const { path, flags } of described) {
    for (const flag of flags.filter(({ isSwitch }) => !isSwitch)) {
      const kind = flag.choices?.join(' ') ?? (flag.hint === 'file' ? 'file' : '')
      const same = kinds.get(kind) ?? { flag, patterns: [] }
      same.patterns.push(`${path} --${flag.name}`)
      kinds.set(kind, same)
    }
  }
  return [...kinds.values()].map(({ flag, patterns }) => toLine(flag, patterns)).join('\n')
}

/** The commands with a file as a positional argument. */
function takingFiles(described: DescribedCommand[]): string[] {
  return described.filter(({ positionals }) => positionals.some(({ hint }) => hint === 'file')).map(({ path }) => path)
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** In fish a backslash keeps its meaning between quotes. */
function fishQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
