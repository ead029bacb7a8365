import type { Participant } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field } from '../parts/field.tsx'
import { PersonChoices } from '../people/person-choices.tsx'
import { usePeople } from '../switch/use-lookups.ts'
import { roomTexts } from '../texts/room.ts'

interface AddPersonProps {
  conversation_id: string
  participants: readonly Participant[]
  onAdded: () => void
}

/** Adds people that are found by any word of their names, or one by the e-mail address. */
export function AddPerson({ conversation_id, participants, onAdded }: AddPersonProps) {
  const { client } = useApp()
  const { people } = roomTexts.value
  const [query, setQuery] = useState('')
  const search = usePeople(query, 'add')
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
      <PersonChoices
        found={found}
        isEmpty={isEmpty}
        isDisabled={add.isRunning}
        onTake={({ id }) => void add.run({ user_id: id })}
      />
      <ErrorNote error={add.error ?? search.error} />
    </section>
  )
}
