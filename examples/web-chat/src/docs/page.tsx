import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import type { Brand } from '../app/config.ts'
import { Icon } from '../parts/icon.tsx'
import { docsTexts } from '../texts/settings.ts'
import type { CsrfNames } from './call.ts'
import { operationsOf, search } from './document.ts'
import { OperationView } from './operation-view.tsx'
import { Prose } from './prose.tsx'
import type { OpenApi, Operation } from './types.ts'

interface DocsProps {
  document: OpenApi
  brand: Brand
  /** The URL of the service. */
  base: string
  csrf: CsrfNames | undefined
  /** The name of who is signed in. */
  user: string | undefined
}

/** The API: its endpoints beside the one of the address. */
export function Docs({ document: api, brand, base, csrf, user }: DocsProps) {
  const all = useMemo(() => operationsOf(api), [api])
  const id = useHash()
  const operation = all.find(({ operationId }) => operationId === id)
  const title = docsTexts.value.title(brand.name)
  useLayoutEffect(() => {
    document.title = operation ? `${operation.summary} – ${title}` : title
    document.getElementById('content')?.scrollTo(0, 0)
    if (operation) document.getElementById('operation-title')?.focus({ preventScroll: true })
  }, [id])
  return (
    <main class="docs" data-pane={operation ? 'operation' : 'list'}>
      <header>
        <a class="icon-button back" href="#/" aria-label={docsTexts.value.back}>
          <Icon name="back" />
        </a>
        <h1>{title}</h1>
        <span class="session">{user === undefined ? docsTexts.value.signed_out : docsTexts.value.signed_in(user)}</span>
        <a href="./">{docsTexts.value.chat}</a>
      </header>
      <OperationList operations={all} selected={operation} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also for the keyboard. */}
      <section id="content" aria-label={title} tabIndex={0}>
        {operation ? (
          <OperationView document={api} operation={operation} base={base} csrf={csrf} />
        ) : (
          <article>
            <Prose text={api.info.description} />
          </article>
        )}
      </section>
    </main>
  )
}

/** The endpoints that the query finds, by what they are about. */
function OperationList({
  operations,
  selected,
}: {
  operations: readonly Operation[]
  selected: Operation | undefined
}) {
  const [query, setQuery] = useState('')
  const found = useMemo(() => search(operations, query), [operations, query])
  const tags = [...new Set(found.map(({ tag }) => tag))]
  return (
    <nav aria-label={docsTexts.value.found(operations.length)}>
      <input
        type="search"
        aria-label={docsTexts.value.search}
        placeholder={docsTexts.value.search}
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      <p class="quiet" role="status">
        {found.length > 0 ? docsTexts.value.found(found.length) : docsTexts.value.none}
      </p>
      {tags.map((tag) => (
        <section key={tag}>
          <h2>{tag}</h2>
          <ul>
            {found
              .filter((each) => each.tag === tag)
              .map((each) => (
                <li key={each.operationId}>
                  <a
                    href={`#${each.operationId}`}
                    title={`${each.method} ${each.path}`}
                    aria-current={each === selected ? 'page' : undefined}
                  >
                    <span class="method" data-method={each.method}>
                      {each.method}
                    </span>{' '}
                    {each.summary.replaceAll('`', '')}
                  </a>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}

/** The id of the endpoint in the address. */
function useHash(): string {
  const [hash, setHash] = useState(location.hash.slice(1))
  useEffect(() => {
    const follow = () => setHash(location.hash.slice(1))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return hash
}
