import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { goTo } from '../app/route.ts'
import { Confirm } from '../parts/confirm.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { roomTexts } from '../texts/room.ts'
import type { TabProps } from './pane.tsx'

/** Takes a conversation out of the list, or back into it; leaves it; deletes it. */
export function Ending({ conversation: { id, title, can, direct }, user }: TabProps) {
  const { client, store } = useApp()
  const [asked, setAsked] = useState<'leave' | 'remove'>()
  const { settings } = useReadable(store.settings(id))
  const { ending: words } = roomTexts.value
  const isArchived = settings?.archived ?? false
  const goHome = () => goTo({ name: 'home' }, { replace: true })
  const archive = useAction(async () => {
    await store.setSettings(id, { archived: !isArchived })
    if (!isArchived) goTo({ name: 'home' })
  })
  return (
    <section>
      <p class="buttons start">
        <button type="button" disabled={archive.isRunning || !settings} onClick={() => void archive.run()}>
          <Icon name="archive" />
          {isArchived ? words.unarchive : words.archive}
        </button>
        {!direct && (
          <button type="button" onClick={() => setAsked('leave')}>
            <Icon name="out" />
            {words.leave}
          </button>
        )}
        {can.includes('delete') && (
          <button type="button" class="danger" onClick={() => setAsked('remove')}>
            <Icon name="trash" />
            {words.remove}
          </button>
        )}
      </p>
      <ErrorNote error={archive.error} />
      {asked === 'leave' && (
        <Confirm
          title={words.leave_title}
          text={words.leave_text}
          button={words.leave}
          act={() => client.participants.remove(id, user.id).then(goHome)}
          onClose={() => setAsked(undefined)}
        />
      )}
      {asked === 'remove' && (
        <Confirm
          title={words.remove_title}
          text={words.remove_text}
          button={words.remove}
          typed={title || id}
          act={() => client.conversations.remove(id).then(goHome)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  )
}
