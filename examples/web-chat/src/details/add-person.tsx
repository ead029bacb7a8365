import type { Participant } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import { Avatar } from '../parts/avatar.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field } from '../parts/field.tsx'
import { usePeople } from '../switch/use-lookups.ts'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'

interface AddPersonProps {
  conversation_id: string
  participants: readonly Participant[]
  onAdded: () => void
}

/** Adds people that are found by any word of their names, or one by the e-mail address. */
export function AddPerson({ conversation_id, participants, onAdded }: AddPersonProps) {
  const { client } = useApp()
  const { people } = roomTexts.value
  const { conversations } = texts.value
  const [query, setQuery] = useState('')
  const search = usePeople(query, false)
  const found = search.items.filter(({ id }) => !participants.some(({ user_id }) => user_id === id))
  const who = query.trim()
  const isAddress = /.@./.test(who)
  const isEmpty = !isAddress && who.length > 1 && !search.isLoading && found.length === 0
  const add = useAction(async (person: { user_id: string } | { email: string } | { username: string }) => {
    await client.participants.add(conversation_id, person)
    setQuery('')
    onAdded()
  })
  const submit = (): void => {
    const [first] = found
    if (isAddress) return void add.run({ email: who })
    void add.run(first && !search.isLoading ? { user_id: first.id } : { username: who })
  }
  return (
    <section>
      <form
        class="one-line"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <Field
          label={people.add}
          name="who"
          placeholder={people.add_hint}
          autocomplete="off"
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
          required
        />
        <button type="submit" disabled={add.isRunning}>
          {people.add_button}
        </button>
      </form>
      <ul class="choices" aria-live="polite">
        {found.map((person) => (
          <li key={person.id}>
            <button type="button" disabled={add.isRunning} onClick={() => void add.run({ user_id: person.id })}>
              <Avatar id={person.id} name={nameOf(person)} photo={person.avatar_url} />
              <span dir="auto">{nameOf(person)}</span>
              <small>
                <bdi>@{person.username}</bdi>
              </small>
            </button>
          </li>
        ))}
        {isEmpty && <li class="quiet">{conversations.direct_none}</li>}
      </ul>
      <ErrorNote error={add.error ?? search.error} />
    </section>
  )
}
