import type { ConversationSummary } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { goTo } from '../app/route.ts'
import { Confirm } from '../parts/confirm.tsx'
import { messageOf } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { showToast } from '../parts/toast.tsx'
import { roomTexts } from '../texts/room.ts'
import { isMuted } from './muted.ts'

const HOUR_MS = 3_600_000

/** Until when a conversation can be muted. */
const MUTES: Record<string, () => string> = {
  hour: () => new Date(Date.now() + HOUR_MS).toISOString(),
  workday: () => new Date(Date.now() + 8 * HOUR_MS).toISOString(),
  tomorrow: () => {
    const at = new Date()
    at.setDate(at.getDate() + 1)
    at.setHours(9, 0, 0, 0)
    return at.toISOString()
  },
  always: () => 'forever',
}

/** What can be done with a conversation of the list. */
export function RowMenu({ conversation, isSelected }: { conversation: ConversationSummary; isSelected: boolean }) {
  const { client, store, session } = useApp()
  const { id, unread, unread_replies, favourite, archived, direct, muted_until } = conversation
  const { row, ending } = roomTexts.value
  const [isMuting, setMuting] = useState(false)
  const [isLeaving, setLeaving] = useState(false)
  const muted = isMuted(muted_until)
  const goHome = () => isSelected && goTo({ name: 'home' }, { replace: true })

  return (
    <div class="row-menu">
      <Menu label={row.more} button={<Icon name="more" />}>
        {(close) => {
          const act = (change: () => Promise<unknown>) => () => {
            setMuting(false)
            close()
            change().catch((error: unknown) => showToast(messageOf(error), { isError: true }))
          }
          const set = (change: Parameters<typeof store.setSettings>[1]) => act(() => store.setSettings(id, change))
          if (isMuting)
            return Object.keys(MUTES).map((each) => (
              <button key={each} type="button" onClick={set({ muted_until: MUTES[each]!() })}>
                {row.mutes[each]}
              </button>
            ))
          return (
            <>
              {unread + unread_replies > 0 && (
                <button type="button" onClick={act(() => client.conversations.markRead(id, { all: true }))}>
                  <Icon name="check" />
                  {row.read}
                </button>
              )}
              <button type="button" onClick={muted ? set({ muted_until: null }) : () => setMuting(true)}>
                <Icon name={muted ? 'bell' : 'muted'} />
                {muted ? row.unmute : row.mute}
              </button>
              <button type="button" onClick={set({ favourite: !favourite })}>
                <Icon name="star" />
                {favourite ? row.unfavourite : row.favourite}
              </button>
              <button type="button" onClick={set({ archived: !archived })}>
                <Icon name="archive" />
                {archived ? ending.unarchive : ending.archive}
              </button>
              {!direct && (
                <button
                  type="button"
                  onClick={() => {
                    close()
                    setLeaving(true)
                  }}
                >
                  <Icon name="out" />
                  {ending.leave}
                </button>
              )}
            </>
          )
        }}
      </Menu>
      {isLeaving && (
        <Confirm
          title={ending.leave_title}
          text={ending.leave_text}
          button={ending.leave}
          act={() => client.participants.remove(id, session.user.value!.id).then(goHome)}
          onClose={() => setLeaving(false)}
        />
      )}
    </div>
  )
}
