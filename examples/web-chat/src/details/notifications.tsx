import type { ConversationSettings } from 'chat-server/client'
import type { SettingsChange } from 'chat-server/client/store'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { isMuted } from '../conversations/muted.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Select } from '../parts/select.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { roomTexts } from '../texts/room.ts'
import { longTime } from '../texts/time.ts'
import type { TabProps } from './pane.tsx'

const LEVELS = ['all', 'mentions', 'none'] as const

/** For how long a conversation can be muted, in hours; the longest has no end. */
const MUTES = { hour: 1, workday: 8, week: 7 * 24, forever: Number.POSITIVE_INFINITY }

/** What the user hears of a conversation, and shows to others in it. */
export function Notifications({ conversation: { id } }: TabProps) {
  const { store } = useApp()
  const { settings, error } = useReadable(store.settings(id))
  if (settings) return <OwnSettings id={id} settings={settings} />
  return error === undefined ? <Waiting /> : <ErrorNote error={error} />
}

function OwnSettings({ id, settings }: { id: string; settings: ConversationSettings }) {
  const { store } = useApp()
  const { settings: words } = roomTexts.value
  const { run, error } = useAction((change: SettingsChange) => store.setSettings(id, change))
  const { level, muted_until, receipts } = settings
  const muted = isMuted(muted_until)
  return (
    <>
      <Select
        label={words.level}
        value={level}
        options={LEVELS.map((each) => [each, words.levels[each]])}
        onChange={(value) => void run({ level: value })}
      />
      <Select
        label={words.mute}
        value={muted ? 'as_it_is' : 'off'}
        options={[
          ['off', words.mutes.off],
          ...(muted ? [['as_it_is', untilText(muted_until!)] as const] : []),
          ...(Object.keys(MUTES) as (keyof typeof MUTES)[])
            .filter((each) => each !== muted_until)
            .map((each) => [each, words.mutes[each]] as const),
        ]}
        onChange={(value) => value !== 'as_it_is' && void run({ muted_until: muteUntil(value) })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={receipts}
          onChange={(event) => void run({ receipts: event.currentTarget.checked })}
        />
        {words.receipts}
      </label>
      <ErrorNote error={error} />
    </>
  )
}

function untilText(muted_until: string): string {
  const { mutes, until } = roomTexts.value.settings
  return muted_until === 'forever' ? mutes.forever : until(longTime(muted_until))
}

/** @returns an instant, `forever`, or `null`, which ends it */
function muteUntil(choice: string): string | null {
  if (choice === 'off' || choice === 'forever') return choice === 'off' ? null : choice
  return new Date(Date.now() + MUTES[choice as keyof typeof MUTES] * 3_600_000).toISOString()
}
