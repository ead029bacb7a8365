import { commonArgs, defineCommand } from '../args/command.ts'
import { print } from '../output.ts'
import { showProgress } from '../progress.ts'
import { withChat } from '../with-chat.ts'

export default defineCommand({
  meta: { name: 'fsck', description: 'Check that the database is consistent' },
  example: 'chat-server fsck --json',
  args: {
    repair: { type: 'boolean', description: 'Correct wrong counts' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(
      args,
      async (chat) => {
        const onProgress = (name: string, step: number, steps: number) => showProgress(`${step} of ${steps}: ${name}`)
        const result = await chat.ops.fsck({ ...(args.repair && { repair: true }), onProgress })
        showProgress('')
        const lines = result.findings.flatMap(({ name, says, count, examples, repaired, note, remedy }) => [
          `${note ? 'note' : repaired ? 'repaired' : 'BROKEN'}  ${name} (${count}): ${says} Violated by: ${examples.join(', ')}`,
          `  → ${remedy}`,
        ])
        print(args, result, lines.length > 0 ? lines.join('\n') : `All ${result.checked} invariants hold.`)
        if (result.findings.some((finding) => !finding.repaired && !finding.note)) process.exitCode = 1
      },
      { changed: true, readOnly: !args.repair },
    ),
})
