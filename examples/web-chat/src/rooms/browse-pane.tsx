import type { PublicRoom } from 'chat-server/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { goTo, hrefOf } from '../app/route.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { useRoving } from '../parts/roving.ts'
import { SettingsPane } from '../parts/settings-pane.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'

/** How long is waited for another letter before the service is asked. */
const TYPING_MS = 200

/** The rooms that everybody sees, by title: those with a certain one are found, and joined where their policy says so. */
export function BrowsePane() {
  const { browse: words } = roomTexts.value
  const [query, setQuery] = useState('')
  const { rooms, isLoading, error, more, retry } = useRooms(query.trim())
  const { list: keys } = useRoving()
  return (
    <SettingsPane title={words.title} tabs={[]} current="">
      <Field
        label={words.find}
        type="search"
        autocomplete="off"
        maxLength={200}
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      <ErrorNote error={error} onRetry={retry} />
      {isLoading && rooms.length === 0 && <Waiting kind="item" />}
      <p class={!isLoading && rooms.length === 0 && error === undefined ? 'quiet' : 'hidden'} role="status">
        {isLoading
          ? texts.value.loading
          : rooms.length > 0
            ? roomTexts.value.switching.found(rooms.length)
            : query.trim() === ''
              ? words.empty
              : words.none}
      </p>
      <ul class="items rows browse" {...keys}>
        {rooms.map((room) => (
          <RoomItem key={room.id} room={room} />
        ))}
      </ul>
      {more && (
        <button type="button" class="link" disabled={isLoading} onClick={more}>
          {words.more}
        </button>
      )}
    </SettingsPane>
  )
}

/** The rooms of a query, page by page: what was found before is shown until the next is there. */
function useRooms(query: string) {
  const { store } = useApp()
  const [sought, setSought] = useState(query)
  // Names of one letter are not looked for.
  const isShort = query.length === 1
  useEffect(() => {
    if (isShort) return
    const timer = setTimeout(() => setSought(query), query === '' ? 0 : TYPING_MS)
    return () => clearTimeout(timer)
  }, [query])
  const list = store.directory({ query: sought })
  const { status, error, conversations, has_more } = useReadable(list)
  const more = useAction(list.loadMore)
  const found = useRef(conversations)
  if (status !== 'loading') found.current = conversations
  return {
    rooms: found.current,
    error,
    isLoading: status === 'loading' || more.isRunning || (!isShort && sought !== query),
    more: has_more ? () => void more.run() : undefined,
    retry: () => void list.reload(),
  }
}

function RoomItem({ room }: { room: PublicRoom }) {
  const { client, store } = useApp()
  const { browse: words } = roomTexts.value
  const { id, title, topic, icon, join, joined, frozen_at, participant_count, visibility } = room
  const name = title || texts.value.conversations.untitled
  const enter = useAction(async () => {
    await client.conversations.join(id)
    void store.conversations.reload()
    goTo({ name: 'conversation', conversation_id: id })
  })
  const facts = [texts.value.conversations.people(participant_count), ...(frozen_at ? [words.frozen] : [])]
  return (
    <li>
      <span class="name" dir="auto">
        {icon ?? '#'} {name}
        {topic && <small>{topic}</small>}
        <small>{facts.join(' · ')}</small>
      </span>
      <span class="buttons">
        {!joined && visibility === 'open' && (
          <a
            class="button"
            href={hrefOf({ name: 'conversation', conversation_id: id })}
            aria-label={`${words.preview}: ${name}`}
          >
            {words.preview}
          </a>
        )}
        {joined ? (
          <a
            class="button"
            href={hrefOf({ name: 'conversation', conversation_id: id })}
            aria-label={`${words.joined}: ${name}`}
          >
            <Icon name="check" />
            {words.joined}
          </a>
        ) : join === 'anyone' && !frozen_at ? (
          <button
            type="button"
            class="primary"
            disabled={enter.isRunning}
            aria-label={`${words.join}: ${name}`}
            onClick={() => void enter.run()}
          >
            {words.join}
          </button>
        ) : (
          <span class="quiet">{join === 'anyone' ? words.frozen : words.by_invite}</span>
        )}
      </span>
      <ErrorNote error={enter.error} />
    </li>
  )
}
