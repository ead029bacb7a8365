import type { User } from 'chat-server/client'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { goTo, hrefOf, type SearchRoute } from '../app/route.ts'
import { titleOf } from '../conversations/title.ts'
import { useAllConversations } from '../conversations/use-all.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { Filters } from './filters.tsx'
import { FoundMessage } from './found-message.tsx'
import { narrow } from './narrowing.ts'
import { isSearch, useResults } from './use-results.ts'

/** Finds messages by their words, narrowed by what is typed or chosen; the address has it all. */
export function SearchPane({ route, user }: { route: SearchRoute; user: User }) {
  const { people } = useApp()
  const { conversations } = useAllConversations()
  const [typed, setTyped] = useState(route.q)
  const field = useRef<HTMLInputElement>(null)
  const found = useResults(route)
  const { search: words, back, close, loading, retry } = texts.value
  useLayoutEffect(() => field.current?.focus(), [])
  useEffect(() => setTyped(route.q), [route.q])
  useEffect(() => {
    const places = new Set(found.results.map(({ conversation }) => conversation.id))
    for (const id of places) if (people.of(id).length === 0) void people.load(id).catch(() => {})
  }, [found.results])
  const submit = (event: Event) => {
    event.preventDefault()
    const named = conversations.map((each) => ({ id: each.id, title: titleOf(each) }))
    const narrowed = narrow(typed, named, user.username)
    setTyped(narrowed.q)
    goTo({ ...route, ...narrowed }, { replace: true })
  }
  const { results, status, has_more, error, is_incomplete, unknown_filters } = found
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
            <form class="search-form" onSubmit={submit}>
              <input
                ref={field}
                type="search"
                aria-label={words.label}
                placeholder={words.placeholder}
                maxLength={500}
                autocomplete="off"
                enterkeyhint="search"
                value={typed}
                onInput={(event) => setTyped(event.currentTarget.value)}
              />
              <button type="submit" class="primary">
                {words.button}
              </button>
            </form>
          </search>
          <Filters route={route} conversations={conversations} user={user} />
          {!isSearch(route) && <p class="hint">{words.hint}</p>}
          <p class={isSearch(route) && !error ? 'quiet' : 'hidden'} role="status">
            {isSearching ? words.searching : isSearch(route) && words.found(results.length, has_more)}
          </p>
          {unknown_filters.length > 0 && <p class="hint">{words.unknown_filters(unknown_filters)}</p>}
          {is_incomplete && <p class="hint">{words.incomplete}</p>}
          {results.length > 0 && (
            <ul class="inbox found">
              {results.map((result) => (
                <FoundMessage key={result.message.id} result={result} conversations={conversations} />
              ))}
            </ul>
          )}
          <ErrorNote error={error} />
          {(has_more || error !== undefined) && (
            <button type="button" disabled={isSearching} onClick={found.more}>
              {isSearching ? loading : error === undefined ? words.more : retry}
            </button>
          )}
        </div>
      </div>
    </section>
  )
}
