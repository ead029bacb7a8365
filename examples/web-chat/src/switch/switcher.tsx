import { canOf } from 'chat-server/client/parts'
import { useId, useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { isComposing } from '../app/choices.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { goTo, hrefOf, routeOfMessage, type SearchRoute } from '../app/route.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { ChoiceOption } from './choice-option.tsx'
import { type Choice, useChoices } from './use-choices.ts'

/** Finds conversations, people and messages by what is typed: arrows choose one, Enter opens it, Escape closes. */
export function Switcher({ onClose }: { onClose: () => void }) {
  const { store, features } = useApp()
  const id = useId()
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const { choices, isLoading, error } = useChoices(query)
  const { can } = useReadable(canOf(store).service)
  const chosen = Math.max(0, Math.min(at, choices.length - 1))
  const { switching } = roomTexts.value
  const open = useAction(async ({ conversation_id, user_id, message }: Choice) => {
    const target = conversation_id ?? (await store.openDirect({ user_id: user_id! })).conversation.id
    onClose()
    if (!message) return goTo({ name: 'conversation', conversation_id: target })
    const { id: message_id, root_id } = message.message
    goTo(routeOfMessage({ conversation_id: target, root_id, message_id }))
  })
  const search: SearchRoute = { name: 'search', q: query.trim() }
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event
    if (isComposing(event)) return
    if (key === 'Enter' && choices.length === 0 && features.search && !isLoading) {
      // The field that then has the focus takes no part of it: it could submit its form.
      event.preventDefault()
      onClose()
      return goTo(search)
    }
    if (choices.length === 0) return
    if (key === 'ArrowDown') setAt((chosen + 1) % choices.length)
    else if (key === 'ArrowUp') setAt((chosen + choices.length - 1) % choices.length)
    else if (key === 'Enter') void open.run(choices[chosen]!)
    else return
    event.preventDefault()
  }
  return (
    <Dialog title={texts.value.switcher.title} focus="field" onClose={onClose}>
      <input
        class="switch-query"
        role="combobox"
        aria-label={switching.label}
        aria-autocomplete="list"
        aria-expanded={choices.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={choices.length > 0 ? `${id}-${chosen}` : undefined}
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        placeholder={switching.placeholder}
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value)
          setAt(0)
          open.clear()
        }}
        onKeyDown={onKeyDown}
      />
      <div class="switch-list" role="listbox" id={`${id}-list`} aria-label={texts.value.switcher.title}>
        {choices.map((choice, index) => (
          <ChoiceOption
            key={choice.id}
            id={`${id}-${index}`}
            choice={choice}
            isChosen={index === chosen}
            onTake={() => void open.run(choice)}
          />
        ))}
      </div>
      <p class={choices.length > 0 ? 'hidden' : 'quiet'} role="status">
        {isLoading ? texts.value.loading : choices.length > 0 ? switching.found(choices.length) : switching.none}
      </p>
      <ErrorNote error={open.error ?? error} />
      {can?.browse && (
        <a class="search-link" href={hrefOf({ name: 'browse' })} onClick={onClose}>
          <Icon name="people" />
          {roomTexts.value.browse.title}
        </a>
      )}
      {features.search && (
        <a class="search-link" href={hrefOf(search)} onClick={onClose}>
          <Icon name="search" />
          <span dir="auto">{search.q === '' ? switching.search : switching.search_for(search.q)}</span>
        </a>
      )}
    </Dialog>
  )
}
