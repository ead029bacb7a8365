import type { Written } from '../../chat/answers/service-rows.ts'
import { oncePerTurn } from '../../core/scheduling/once-per-turn.ts'
import type { Micros } from '../../storage/sql.ts'

/** How many bytes of pages are kept for streams that catch up at the moment, in a process. Beyond, each renders for itself. */
const MAX_BYTES = 16 * 1024 * 1024

/** A page of the rows of an answer as frames, and what a stream needs to go on behind it. Nothing of it changes. */
export interface SharedPage {
  bytes: Uint8Array
  /** The number of the row behind its last. */
  next: number
  /** The instant of its last row. */
  last_at: Micros | undefined
  /** Whether the answer has ended with it. */
  is_end: boolean
  steps: unknown
  frames: unknown
}

/** The streams that get the same frames of an answer, of which one is catching up. */
export interface SharingStreams {
  /** The page that begins with this row, if another stream has rendered it, or does so now. */
  find(from: number): SharedPage | Promise<SharedPage | undefined> | undefined
  /** The page that begins with this row, if another stream has rendered it. */
  kept(from: number): SharedPage | undefined
  /**
   * Tells the others that this stream renders a page.
   *
   * @returns a function that gives it to them, or `undefined` to it where it is none that others may have; `undefined` if there are no
   *   others, or one of them renders it, too
   */
  begin(from: number): ((page: SharedPage | undefined) => void) | undefined
  /** What the answer is now: streams that ask in one turn of the event loop share a look, which begins afterwards. */
  look(): Promise<Look>
  /** Is called once this stream has caught up. */
  leave(): void
}

/** What an answer is at a moment. */
export interface Look {
  message: Written
  /** Whether it has a text in place of its rows. */
  is_edited: boolean
}

/** Lets streams join those that get the same frames. @param look looks at the answer */
export type SharedPages = (key: string, look: () => Promise<Look>) => SharingStreams

interface Group {
  streams: number
  /** By their first row; a promise while a page is being rendered. */
  pages: Map<number, SharedPage | Promise<SharedPage | undefined>>
  bytes: number
  look: () => Promise<Look>
}

/**
 * Creates what streams of one answer share while they catch up: after a failure of the network hundreds resume at the same moment,
 * and rows never change. A page is kept as long as several streams catch up, and no longer.
 */
export function createSharedPages(max_bytes = MAX_BYTES): SharedPages {
  const groups = new Map<string, Group>()
  let kept_bytes = 0

  function keep(group: Group, from: number, page: SharedPage | undefined): void {
    const size = page?.bytes.length ?? 0
    if (page && kept_bytes + size <= max_bytes && group.streams > 0) {
      group.pages.set(from, page)
      group.bytes += size
      kept_bytes += size
    } else group.pages.delete(from)
  }

  return (key, look) => {
    const group = groups.get(key) ?? { streams: 0, pages: new Map(), bytes: 0, look: oncePerTurn(look) }
    groups.set(key, group)
    group.streams++
    return {
      find: (from) => group.pages.get(from),
      kept(from) {
        const page = group.pages.get(from)
        return page instanceof Promise ? undefined : page
      },
      begin(from) {
        // Alone, a stream would only keep what it has sent.
        if (group.streams < 2 || group.pages.has(from)) return undefined
        let settle: (page: SharedPage | undefined) => void = () => {}
        group.pages.set(
          from,
          new Promise((resolve) => {
            settle = resolve
          }),
        )
        return (page) => {
          keep(group, from, page)
          settle(page)
        }
      },
      look: group.look,
      leave() {
        if (--group.streams > 0) return
        kept_bytes -= group.bytes
        groups.delete(key)
      },
    }
  }
}

/** The pages of each service. */
const services = new WeakMap<object, SharedPages>()

/** The pages that the streams of a service share. @param service something that a service has for itself */
export function sharedPagesOf(service: object): SharedPages {
  const shared = services.get(service) ?? createSharedPages()
  services.set(service, shared)
  return shared
}
