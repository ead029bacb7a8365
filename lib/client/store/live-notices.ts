import type { Notice } from '../../api/client-entities.ts'
import type { PlanBody } from './later.ts'
import type { NoticesData } from './notices.ts'
import type { Resource } from './resource.ts'
import type { StoreClient } from './types.ts'

/** How long a notice is kept that has expired by the clock of this machine, and not by that of the service. */
const UNSURE_MS = 60_000

/** Reads the notices of the user in a conversation, follows them, and removes those that have expired. */
export function liveNotices(
  client: StoreClient,
  conversation_id: string,
  userId: () => string,
  resource: () => Pick<Resource<NoticesData, unknown>, 'update' | 'reload'>,
): PlanBody<NoticesData> {
  const ends = new WeakMap<Notice, { at: number; isUnsure?: true }>()
  let timer: ReturnType<typeof setTimeout> | undefined

  /** Waits for the first one to expire. */
  function watch(data: NoticesData): NoticesData {
    clearTimeout(timer)
    const first = Math.min(...data.notices.map((notice) => ends.get(notice)!.at))
    if (first === Number.POSITIVE_INFINITY) return data
    timer = setTimeout(expire, Math.max(1, first - Date.now()))
    // In Node it keeps no process.
    ;(timer as { unref?(): void }).unref?.()
    return data
  }

  function expire(): void {
    let isUnsure = false
    resource().update(({ notices }) => {
      const due = notices.filter((notice) => ends.get(notice)!.at <= Date.now())
      const unsure = due.filter((notice) => ends.get(notice)!.isUnsure)
      for (const notice of unsure) ends.set(notice, { at: Date.now() + UNSURE_MS, isUnsure: true })
      isUnsure = unsure.length > 0
      return watch({ notices: notices.filter((notice) => !due.includes(notice) || unsure.includes(notice)) })
    })
    // The service returns none that has expired.
    if (isUnsure) void resource().reload()
  }

  return {
    async read() {
      const { notices } = await client.notices.list(conversation_id)
      for (const notice of notices) {
        const at = Date.parse(notice.expires_at)
        ends.set(notice, at > Date.now() ? { at } : { at: Date.now() + UNSURE_MS, isUnsure: true })
      }
      return watch({ notices })
    },
    fold(data, { type, payload }) {
      switch (type) {
        case 'notice.new': {
          const { notice } = payload
          if (notice.conversation_id !== conversation_id) return data
          const lifetime = Date.parse(notice.expires_at) - Date.parse(notice.created_at)
          ends.set(notice, { at: Date.now() + lifetime })
          return watch({ notices: [...data.notices.filter(({ id }) => id !== notice.id), notice] })
        }
        case 'notice.removed':
          return data.notices.some(({ id }) => id === payload.notice_id)
            ? watch({ notices: data.notices.filter(({ id }) => id !== payload.notice_id) })
            : data
        case 'membership.changed':
          return payload.conversation_id === conversation_id && payload.user_id === userId() ? 'stale' : data
        case 'message.deleted':
        case 'message.restored':
          // The notices in a thread end with it.
          return payload.message.conversation_id === conversation_id && payload.message.parent_id === undefined
            ? 'stale'
            : data
        default:
          return data
      }
    },
  }
}
