import { type CommandDef, defineCommand as defineGroup } from 'citty'
import { commonArgs, defineCommand } from '../args/command.ts'
import { describeCommands } from '../completion/describe.ts'
import { completionFor, type Shell } from '../completion/scripts.ts'
import { print } from '../output.ts'

/** The command that installs the script for each shell. */
const INSTALL: Record<Shell, string> = {
  bash: 'chat-server completion bash > ~/.local/share/bash-completion/completions/chat-server',
  zsh: 'chat-server completion zsh > ~/.zfunc/_chat-server',
  fish: 'chat-server completion fish > ~/.config/fish/completions/chat-server.fish',
}

/** The command that prints completion scripts for the commands of `root`, itself included. */
export function createCompletion(root: CommandDef): CommandDef {
  const forShell = (shell: Shell) =>
    defineCommand({
      meta: { name: shell, description: `Print the completion script for ${shell}` },
      example: INSTALL[shell],
      args: commonArgs,
      run: async ({ args }) => {
        const script = completionFor(shell, await describeCommands(root))
        print(args, { shell, script }, script.trimEnd())
      },
    })
  return defineGroup({
    meta: { name: 'completion', description: 'Complete commands, flags and files in the shell' },
    subCommands: { bash: forShell('bash'), zsh: forShell('zsh'), fish: forShell('fish') },
  })
}
