import type { User } from 'chat-server/client'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { goTo, hrefOf, type SearchRoute } from '../app/route.ts'
import { titleOf } from '../conversations/title.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { usePlaces } from '../switch/use-choices.ts'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { Chips } from './chips.tsx'
import { Filters } from './filters.tsx'
import { FoundMessages } from './found-message.tsx'
import { FoundPlaces } from './found-places.tsx'
import { FILTERS, narrow } from './narrowing.ts'
import { isSearch, useResults } from './use-results.ts'

/** How many rooms and people are shown above the messages. */
const MAX_PLACES = 5

/** Finds rooms and people by name and messages by their words, narrowed by what is typed or chosen; the address has it all. */
export function SearchPane({ route, user }: { route: SearchRoute; user: User }) {
  const { people } = useApp()
  // Only messages are narrowed.
  const query = FILTERS.some((filter) => route[filter] !== undefined) ? '' : route.q
  const { conversations, choices } = usePlaces(query)
  const places = query === '' ? [] : choices.slice(0, MAX_PLACES)
  const [typed, setTyped] = useState(route.q)
  const field = useRef<HTMLInputElement>(null)
  const found = useResults(route)
  const { back, close, loading } = texts.value
  const words = roomTexts.value.search
  const focusField = () => field.current?.focus()
  useLayoutEffect(focusField, [])
  useEffect(() => setTyped(route.q), [route.q])
  useEffect(() => {
    const places = new Set(found.results.map(({ conversation }) => conversation.id))
    for (const id of places) if (people.of(id).length === 0) void people.load(id).catch(() => {})
  }, [found.results])
  const narrowed = (text: string) =>
    narrow(
      text,
      conversations.map((each) => ({ id: each.id, title: titleOf(each) })),
      user.username,
    )
  const search = (text: string) => {
    const next = narrowed(text)
    setTyped(next.q)
    goTo({ ...route, ...next }, { replace: true })
  }
  const type = (text: string) => {
    // A filter is complete with the space behind it.
    if (/\s$/.test(text) && Object.keys(narrowed(text)).length > 1) search(text)
    else setTyped(text)
  }
  const { results, status, has_more, error, is_incomplete, not_filters } = found
  const isSearching = status === 'loading'
  return (
    <section class="pane settings search" aria-labelledby="search-title">
      <header>
        <a class="icon-button back" href={hrefOf({ name: 'home' })} aria-label={back}>
          <Icon name="back" />
        </a>
        <h2 id="search-title">{words.title}</h2>
        <a class="icon-button close" href={hrefOf({ name: 'home' })} aria-label={close}>
          <Icon name="close" />
        </a>
      </header>
      <div class="scroll">
        <div class="sheet">
          <search>
            <form
              class="search-form"
              onSubmit={(event) => {
                event.preventDefault()
                search(typed)
              }}
            >
              <input
                ref={field}
                type="search"
                aria-label={words.label}
                placeholder={words.placeholder}
                maxLength={500}
                autocomplete="off"
                enterkeyhint="search"
                value={typed}
                onInput={(event) => type(event.currentTarget.value)}
              />
              <button type="submit" class="primary">
                {words.button}
              </button>
            </form>
          </search>
          <Chips
            route={route}
            conversations={[...conversations, ...results.map(({ conversation }) => conversation)]}
            user={user}
            onRemoved={focusField}
          />
          <Filters route={route} conversations={conversations} user={user} />
          {!isSearch(route) && <p class="hint">{words.hint}</p>}
          {places.length > 0 && (
            <>
              <h3>{words.places}</h3>
              <FoundPlaces choices={places} label={words.places} />
              <h3>{words.messages}</h3>
            </>
          )}
          <p class={isSearch(route) && !error ? 'quiet' : 'hidden'} role="status">
            {isSearching ? words.searching : isSearch(route) && words.found(results.length, has_more, route.q)}
          </p>
          {not_filters.length > 0 && <p class="hint">{words.not_filters(not_filters)}</p>}
          {is_incomplete && <p class="hint">{words.incomplete}</p>}
          {results.length > 0 && <FoundMessages results={results} conversations={conversations} />}
          <ErrorNote error={error} onRetry={found.more} />
          {has_more && error === undefined && (
            <button type="button" disabled={isSearching} onClick={found.more}>
              {isSearching ? loading : words.more}
            </button>
          )}
        </div>
      </div>
    </section>
  )
}
