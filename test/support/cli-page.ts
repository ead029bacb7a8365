import { commonArgs } from '../../cli/args/command.ts'
import { root } from '../../cli/commands.ts'
import { type DescribedArg, type DescribedCommand, describeCommands } from '../../cli/completion/describe.ts'

const INTRODUCTION = `<!-- Generated from cli/commands by test/support/generate-docs.ts: change it there. -->

# Command line

\`\`\`sh
npx chat-server --help
npx chat-server user create --help
\`\`\`

In a clone, use \`npm start --\` for \`serve\`, and \`node dist/cli/main.js\` for other commands.

- Unknown commands, unknown flags, and flags without their value are refused. \`--flag value\` and \`--flag=value\` are
  the same.
- What a command is about may be given as a word or as a flag: \`user show grace\` and \`user show --user grace\` are the same. Both,
  with different values, are refused.
- Every command takes \`--help\`, \`--config <file>\` (a [configuration file](configuration.md)), \`--database <url>\`
  (\`sqlite:<path>\` or \`postgres://…\`), and \`--json\`.
- With \`--json\` there is exactly one JSON document on standard output, also when the command fails:
  \`{ "error": { "code", "message", "errors"? } }\`. Everything else goes to standard error.
- Long commands show their progress on standard error if it is a terminal.
- Commands work while the service runs. Their changes take effect in it within a second.
- Only \`serve\` and \`migrate\` change the schema. \`setup\` and \`import\` create it in an empty database. Other commands
  refuse an outdated database and print the command to run; \`backup\` and \`events renew-epoch\` accept it.
- Only the user who runs a command can read the files and databases it creates, whatever the umask.

## Exit codes

| code | meaning |
|---|---|
| 0 | Success. |
| 1 | Failure, or a check found a problem (\`fsck\`, \`doctor\`). One line on standard error has the reason. |
| 2 | The command line or the configuration is invalid; nothing was done. |
| 130 | Interrupted a second time (\`serve\`), at a prompt, or while \`doctor\` tests a stream. |

## Environment

| variable | |
|---|---|
| \`CHAT_<SECTION>__<KEY>\` | A key of the [configuration](configuration.md): \`CHAT_SERVER__PORT=9000\`. |
| \`CHAT_CONFIG\` | The configuration file, if \`--config\` is not set. |
| \`CHAT_PASSWORD\` | The password for \`setup\`, \`user create\` and \`user set-password\`; otherwise the command reads the first line of standard input, or prompts. |
| \`NO_COLOR\` | Help without colours. |

Avoid \`--password\`: other users of the machine can read it in the list of processes.

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

For the current shell only: \`source <(chat-server completion bash)\`. Generate the script again after an upgrade. Bash needs
the package \`bash-completion\` to find the file. The script contains all commands; pressing Tab starts no process.

## Commands

`

/** The reference page of the command line, with every command. */
export async function cliPage(): Promise<string> {
  const tree = await describeCommands(root)
  const commands = tree.filter(({ example }) => example)
  const list = commands.map(({ path, description }) => `- [\`${path}\`](#${anchorOf(path)}): ${description}\n`)
  return `${INTRODUCTION}${list.join('')}\n${commands.map(describe).join('\n')}`
}

function describe({ path, description, example, flags, subject, positionals }: DescribedCommand): string {
  const own = flags.filter(({ name }) => !Object.hasOwn(commonArgs, name) && name !== subject?.name)
  const usage = [
    path,
    ...(subject ? [subject.required ? `<${subject.name}>` : `[<${subject.name}>]`] : []),
    ...positionals.map(({ name }) => `<${name}>`),
    ...own.map(usageOf),
    '[--json] [--config] [--database]',
  ]
  const lines = [
    ...(subject
      ? [`- \`<${subject.name}>\` or \`${usageOf({ ...subject, required: true })}\`: ${subject.description}.\n`]
      : []),
    ...positionals.map((word) => `- \`<${word.name}>\`: ${word.description}.\n`),
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

/** The anchor that GitHub generates for a heading. */
function anchorOf(path: string): string {
  return path.replaceAll(' ', '-')
}
