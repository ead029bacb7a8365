import type { FileCheckup } from '../../lib/ops/files/file-check.ts'
import type { Chat } from '../../lib/service.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { parseNumber } from '../args/number.ts'
import { consentNote } from '../consent.ts'
import { print, printNote } from '../output.ts'
import { showProgress } from '../progress.ts'
import { withChat } from '../with-chat.ts'

export default defineCommand({
  meta: { name: 'fsck', description: 'Check that the database is consistent, and with --files the storage of files' },
  example: 'chat-server fsck --json',
  args: {
    repair: { type: 'boolean', description: 'Correct wrong counts and lists; mark files without bytes as gone' },
    files: { type: 'boolean', description: 'Compare the files of messages with attachments.storage' },
    read: { type: 'boolean', description: 'With --files: read all bytes, and compare their digests' },
    'accept-loss': {
      type: 'string',
      valueHint: 'count',
      description: 'With --files --repair: the number of missing files that it printed; marks them as gone',
    },
    ...commonArgs,
  },
  run: ({ args }) => {
    if (args.read && !args.files) throw new UsageError('--read is part of --files')
    const accept_loss = parseNumber('accept-loss', args['accept-loss'])
    if (accept_loss !== undefined && !(args.files && args.repair))
      throw new UsageError('--accept-loss is part of --files --repair')
    return withChat(
      args,
      async (chat) => {
        const onProgress = (name: string, step: number, steps: number) => showProgress(`${step} of ${steps}: ${name}`)
        const repair = args.repair === true
        const checkup = await chat.ops.fsck({ ...(repair && { repair }), onProgress })
        const files = args.files
          ? await checkFiles(chat, {
              repair,
              read: args.read === true,
              ...(accept_loss !== undefined && { accept_loss }),
            })
          : undefined
        showProgress('')
        const findings = [...checkup.findings, ...(files?.findings ?? [])]
        const counts = files && {
          files: files.files,
          file_bytes: files.bytes,
          missing_files: files.missing,
          recovered_files: files.recovered,
        }
        const result = { ...checkup, ...counts, findings }
        const lines = findings.flatMap(({ name, says, count, examples, repaired, note, remedy }) => [
          `${note ? 'note' : repaired ? 'repaired' : 'BROKEN'}  ${name} (${count}): ${says} Violated by: ${examples.join(', ')}`,
          `  → ${remedy}`,
        ])
        const all = files ? ` The bytes of ${files.files} files are there.` : ''
        print(args, result, lines.length > 0 ? lines.join('\n') : `All ${result.checked} invariants hold.${all}`)
        if (files?.recovered) printNote(`${files.recovered} files have their bytes again.`)
        if (files?.needs_consent) printNote(consentNote(files))
        if (findings.some((finding) => !finding.repaired && !finding.note)) process.exitCode = 1
      },
      { changed: true, readOnly: !args.repair },
    )
  },
})

function checkFiles(
  chat: Chat,
  options: { repair: boolean; read: boolean; accept_loss?: number },
): Promise<FileCheckup> {
  const onProgress = (files: number, bytes: number) =>
    showProgress(`${files} files, ${Math.round(bytes / 2 ** 20)} MiB`)
  return chat.ops.fsckFiles({ ...options, onProgress })
}
