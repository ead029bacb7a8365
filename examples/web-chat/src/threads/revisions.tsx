import type { Revision } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import { useEffect, useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { Markdown } from '../markdown/lazy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { roomTexts } from '../texts/room.ts'
import { longTime } from '../texts/time.ts'

/** What an edited message said before, latest first. */
export function RevisionsDialog({ message, onClose }: { message: StoreMessage; onClose: () => void }) {
  const { client } = useApp()
  const [revisions, setRevisions] = useState<readonly Revision[]>()
  const { run, error } = useAction(async () => {
    const all: Revision[] = []
    let after: string | undefined
    do {
      const page = await client.messages.listRevisions(message.id, { ...(after !== undefined && { after }) })
      all.push(...page.revisions)
      after = page.next_after
    } while (after !== undefined)
    setRevisions(all.reverse())
  })
  // Another edit makes another one.
  useEffect(() => void run(), [message.edited_at])
  const words = roomTexts.value.revisions
  return (
    <Dialog title={words.title} onClose={onClose}>
      <ErrorNote error={error} />
      {!revisions && !error && <Waiting />}
      <ol class="revisions">
        {revisions?.map(({ content, replaced_at, reason }) => (
          <li key={replaced_at}>
            <p class="hint">
              {words.until(longTime(replaced_at))}
              {reason && ` · ${reason}`}
            </p>
            <Markdown text={content} />
          </li>
        ))}
      </ol>
    </Dialog>
  )
}
