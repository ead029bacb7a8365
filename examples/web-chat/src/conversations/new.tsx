import { canOf } from 'chat-server/client/parts'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { goTo, hrefOf } from '../app/route.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { PersonChoices } from '../people/person-choices.tsx'
import { usePeople } from '../switch/use-lookups.ts'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import type { Section } from './sections.ts'

/** A new room, direct conversation or talk with the assistant. */
export function NewConversation({ section, onClose }: { section: Section; onClose: () => void }) {
  const { client, store } = useApp()
  const { conversations } = texts.value
  const open = (conversation_id: string) => {
    onClose()
    void store.conversations.reload()
    goTo({ name: 'conversation', conversation_id })
  }
  const create = useAction(async (form: HTMLFormElement) => {
    const look = section === 'assistant' ? { layout: section } : {}
    open((await client.conversations.create({ title: fieldsOf(form).title ?? '', ...look })).conversation_id)
  })
  const isRoom = section === 'rooms' || section === 'favourites'
  const title = conversations.create[isRoom ? 'rooms' : section]
  const { can } = useReadable(canOf(store).service)
  return (
    <Dialog title={title} focus="field" onClose={onClose}>
      {section === 'direct' ? (
        <NewDirect onOpen={open} />
      ) : can && !can.create_conversations ? (
        <p class="quiet">{roomTexts.value.browse.no_new}</p>
      ) : (
        <Form action={create} button={conversations.create_button}>
          <Field
            label={conversations.name}
            name="title"
            placeholder={conversations.name_hint}
            maxLength={200}
            required
          />
        </Form>
      )}
      {isRoom && can?.browse && (
        <a class="search-link" href={hrefOf({ name: 'browse' })} onClick={onClose}>
          <Icon name="search" />
          {roomTexts.value.browse.title}
        </a>
      )}
    </Dialog>
  )
}

function NewDirect({ onOpen }: { onOpen: (conversation_id: string) => void }) {
  const { session, store } = useApp()
  const { conversations } = texts.value
  const [query, setQuery] = useState('')
  const search = usePeople(query, 'direct')
  const found = search.items.filter(({ id }) => id !== session.user.value?.id)
  const isEmpty = found.length === 0 && query.trim().length > 1 && !search.isLoading
  const { run, isRunning, error } = useAction(async (user_id: string) => {
    onOpen((await store.openDirect({ user_id })).conversation.id)
  })
  return (
    <section class="direct">
      <Field
        label={conversations.direct_find}
        type="search"
        autocomplete="off"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      <PersonChoices
        found={found}
        isEmpty={isEmpty}
        isDisabled={isRunning}
        label={conversations.direct_button}
        onTake={({ id }) => void run(id)}
      />
      <ErrorNote error={error ?? search.error} />
    </section>
  )
}
