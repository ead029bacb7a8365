import { commonArgs } from '../../cli/args/command.ts'
import { root } from '../../cli/commands.ts'
import { type DescribedArg, type DescribedCommand, describeTree } from '../../cli/completion/describe.ts'

const INTRODUCTION = `<!-- Made from cli/commands by test/support/generate-docs.ts: change it there. -->

# Command line

\`\`\`sh
npx chat-server --help
npx chat-server user create --help
\`\`\`

In a clone it is \`npm start --\` for \`serve\`, and \`node dist/cli/main.js\` for everything.

- A word that names no command, a flag that is none, and a flag without its value are refused. \`--flag value\` and
  \`--flag=value\` are the same.
- Every command takes \`--help\`, \`--config <file>\` (a [configuration file](configuration.md)), \`--database <url>\`
  (\`sqlite:<path>\` or \`postgres://…\`), and \`--json\`.
- With \`--json\` there is exactly one JSON document on standard output, also when the command fails:
  \`{ "error": { "code", "message", "errors"? } }\`. Whatever else there is to say goes to standard error.
- Progress of what takes long is shown on standard error where that is a terminal, and nowhere else.
- Commands run beside a serving process. What they change takes effect in it within a second.
- Only \`serve\` and \`migrate\` change the schema. \`setup\` and \`import\` make it where the database is empty. All others
  refuse a database of an older version, and name the command to run; \`backup\` and \`events renew-epoch\` take it as it is.
- Files they make, and databases, can be read by the user who runs them only, whatever the umask.

## Exit codes

| code | means |
|---|---|
| 0 | It is done. |
| 1 | It could not be done, or what was looked at is not well (\`fsck\`, \`doctor\`). One line on standard error says why. |
| 2 | The command line or the configuration is wrong; nothing was begun. |
| 130 | Interrupted a second time (\`serve\`), at a prompt, or while \`doctor\` tries a stream. |

## Environment

| variable | |
|---|---|
| \`CHAT_<SECTION>__<KEY>\` | A key of the [configuration](configuration.md): \`CHAT_SERVER__PORT=9000\`. |
| \`CHAT_CONFIG\` | The configuration file, where there is no \`--config\`. |
| \`CHAT_PASSWORD\` | The password for \`setup\`, \`user create\` and \`user set-password\`; else it is the first line of standard input, or asked for. |
| \`NO_COLOR\` | Help without colours. |

Passwords are better not given with \`--password\`: other users of the machine can read it in the list of processes.

## Completion

\`\`\`sh
mkdir -p ~/.local/share/bash-completion/completions
chat-server completion bash > ~/.local/share/bash-completion/completions/chat-server
\`\`\`

\`\`\`sh
mkdir -p ~/.zfunc
chat-server completion zsh > ~/.zfunc/_chat-server
# in ~/.zshrc: fpath+=~/.zfunc; autoload -U compinit; compinit
\`\`\`

\`\`\`sh
mkdir -p ~/.config/fish/completions
chat-server completion fish > ~/.config/fish/completions/chat-server.fish
\`\`\`

or for one shell at once: \`source <(chat-server completion bash)\`. Write it again after an upgrade. Bash needs the package
\`bash-completion\` to find the file. The script knows all commands; when somebody presses Tab nothing of ours is started.

## Commands

`

/** The page about the command line, with every command there is. */
export async function cliPage(): Promise<string> {
  const tree = await describeTree(root)
  const commands = tree.filter(({ example }) => example)
  const list = commands.map(({ path, description }) => `- [\`${path}\`](#${anchorOf(path)}): ${description}\n`)
  return `${INTRODUCTION}${list.join('')}\n${commands.map(describe).join('\n')}`
}

function describe({ path, description, example, flags, words }: DescribedCommand): string {
  const own = flags.filter(({ name }) => !Object.hasOwn(commonArgs, name))
  const usage = [path, ...words.map(({ name }) => `<${name}>`), ...own.map(usageOf), '[--json] [--config] [--database]']
  const lines = [
    ...words.map((word) => `- \`<${word.name}>\`: ${word.description}.\n`),
    ...own.map((flag) => `- \`--${flag.name}\`: ${flag.description}.${factsOf(flag)}\n`),
  ]
  return `### ${path}

${description}.

\`\`\`text
${usage.join(' ')}
\`\`\`
${lines.length > 0 ? `\n${lines.join('')}` : ''}
\`\`\`sh
${example}
\`\`\`
`
}

function usageOf({ name, required, isSwitch, hint, choices }: DescribedArg): string {
  const flag = isSwitch ? `--${name}` : `--${name} ${choices ? choices.join('|') : `<${hint ?? name}>`}`
  return required ? flag : `[${flag}]`
}

function factsOf({ default: fallback }: DescribedArg): string {
  return fallback === undefined ? '' : ` Default: \`${fallback}\`.`
}

/** As GitHub makes it of a heading. */
function anchorOf(path: string): string {
  return path.replaceAll(' ', '-')
}
