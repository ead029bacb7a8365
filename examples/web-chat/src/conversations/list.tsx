import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { MAX_KEPT, useKept } from '../app/kept.ts'
import { useReadable } from '../app/readable.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { lazy } from '../parts/lazy.tsx'
import { useRoving } from '../parts/roving.ts'
import { useVisible } from '../parts/visible.ts'
import { Waiting } from '../parts/waiting.tsx'
import { useWindowed } from '../parts/windowed.ts'
import { texts } from '../texts/texts.ts'
import { ConversationRow } from './row.tsx'
import { SectionHead } from './section-head.tsx'
import { rowsOf, SECTIONS, type Section } from './sections.ts'
import { useSteady } from './use-steady.ts'

const EmptyList = lazy(() => import('./empty-list.tsx').then(({ EmptyList }) => EmptyList))

interface ListProps {
  selected: string | undefined
  /** Whether it is the list of archived ones. */
  isArchive: boolean
  onCreate: (section: Section) => void
}

/** The conversations of the user by sections, latest activity first. */
export function ConversationList({ selected, isArchive, onCreate }: ListProps) {
  const { store, features, presence: live } = useApp()
  const list = isArchive ? store.archived : store.conversations
  const view = useReadable(list)
  const { conversations, status, error, has_more } = view
  useKept(list, view, isArchive ? undefined : '/api/conversations', ({ conversations }) => ({
    conversations: conversations.slice(0, MAX_KEPT),
  }))
  const end = useRef<HTMLLIElement>(null)
  const keys = useRoving()
  const scroller = keys.list.ref
  const steady = useSteady(conversations)
  const always = SECTIONS.filter((each) => each === 'rooms' || (each !== 'favourites' && features[each]))
  // One that is archived is in no other section.
  const rows = isArchive ? steady.items : rowsOf(steady.items, always)
  const heads = rows.flatMap((row, index) => ('section' in row ? index : []))
  const { from, to, above, below } = useWindowed(scroller, rows.length, heads)
  const shown = rows.slice(from, to)
  const partners = shown.flatMap((row) => ('section' in row ? [] : (row.with?.user_id ?? []))).join()
  const presence = useReadable(live.presence(useMemo(() => partners.split(',').filter(Boolean), [partners])))
  // With a collapsed section, its end would stay in view until all were read.
  const isWhole = rows.every((row) => !('section' in row) || row.isOpen)
  useVisible(end, () => void list.loadMore(), has_more && isWhole)
  // The one that is open is in view at first; the pointer is where it was chosen.
  const isReady = status === 'ready'
  useLayoutEffect(() => {
    const at = rows.findIndex((row) => !('section' in row) && row.id === selected)
    const { current } = scroller
    if (at < 0 || !current) return
    // Of a long list, only what is near the view is rendered: it goes to about the middle.
    if (from > at || at >= to) current.scrollTop = (current.scrollHeight * at) / rows.length - current.clientHeight / 2
    else current.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [selected, isReady])
  const { archive_empty, more } = texts.value.conversations

  if (status === 'loading') return <Waiting kind="conversation" />
  if (status === 'failed') return <ErrorNote error={error} onRetry={() => void list.reload()} />
  if (conversations.length === 0 && isArchive) return <p class="quiet">{archive_empty}</p>
  return (
    <ul
      class="conversations"
      {...keys.list}
      {...steady.list}
      onFocusIn={(event) => {
        steady.list.onFocusIn()
        keys.list.onFocusIn(event)
      }}
    >
      {above > 0 && <li key="above" aria-hidden="true" style={{ height: `${above}px` }} />}
      {shown.map((row, index) =>
        'section' in row ? (
          <SectionHead key={row.section} {...row} onCreate={onCreate} />
        ) : (
          <ConversationRow
            key={row.id}
            place={from + index + 1}
            size={has_more ? -1 : rows.length}
            conversation={row}
            isSelected={row.id === selected}
            presence={row.with && (presence[row.with.user_id]?.status ?? 'offline')}
          />
        ),
      )}
      {conversations.length === 0 && (
        <li key="empty">
          <EmptyList onCreate={() => onCreate('rooms')} />
        </li>
      )}
      {below > 0 && <li key="below" aria-hidden="true" style={{ height: `${below}px` }} />}
      {has_more && (
        <li key="end" ref={end} class="quiet">
          {isWhole ? (
            texts.value.loading
          ) : (
            <button type="button" class="link" onClick={() => void list.loadMore()}>
              {more}
            </button>
          )}
        </li>
      )}
    </ul>
  )
}
