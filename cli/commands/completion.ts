import { type CommandDef, defineCommand as defineGroup } from 'citty'
import { commonArgs, defineCommand } from '../args/command.ts'
import { describeTree } from '../completion/describe.ts'
import { completionFor, type Shell } from '../completion/scripts.ts'
import { print } from '../output.ts'

/** How each shell gets to know the script, for good. */
const INSTALL: Record<Shell, string> = {
  bash: 'chat-server completion bash > ~/.local/share/bash-completion/completions/chat-server',
  zsh: 'chat-server completion zsh > ~/.zfunc/_chat-server',
  fish: 'chat-server completion fish > ~/.config/fish/completions/chat-server.fish',
}

/** The command that has shells complete the commands of `root`, itself included. */
export function createCompletion(root: CommandDef): CommandDef {
  const forShell = (shell: Shell) =>
    defineCommand({
      meta: { name: shell, description: `Print what has ${shell} complete commands, flags and files` },
      example: INSTALL[shell],
      args: commonArgs,
      run: async ({ args }) => {
        const script = completionFor(shell, await describeTree(root))
        print(args, { shell, script }, script.trimEnd())
      },
    })
  return defineGroup({
    meta: { name: 'completion', description: 'Have the shell complete commands, flags and files' },
    subCommands: { bash: forShell('bash'), zsh: forShell('zsh'), fish: forShell('fish') },
  })
}
