import { type Photos, photosOf } from '../../accounts/users/photos.ts'
import type { Context } from '../../context.ts'
import { createLoader, type Find } from '../../core/scheduling/loader.ts'
import type { Page, Source } from '../../live/conversation/channel.ts'
import type { Head } from '../../live/log/event-ids.ts'
import { type EventRow, listEvents, listHeads } from '../../live/log/log.ts'
import type { JoinedConversation, StreamSources } from '../../live/readers/reader.ts'
import type { Database } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { settingsContext } from '../conversations/service-settings.ts'
import { listMembershipsOfUsers, listParticipations } from '../memberships/store.ts'
import { completeInboxEvents } from '../notifications/completing.ts'
import { countUnreadNotifications } from '../notifications/store.ts'
import { listSmall } from '../presence/store.ts'
import { listFollowing, listUnreadUpdates } from '../unread/updates.ts'
import { findRefusals } from './access.ts'
import { compose, type Reading } from './render.ts'

/** The functions that the hub needs from conversations and users. */
export function createStreamSources(
  deps: Pick<Context, 'access' | 'db' | 'config' | 'now' | 'sessionNow'>,
): StreamSources {
  const { access, db, config, now, sessionNow } = deps
  const { broadcast_participants } = config.presence
  const photos = photosOf(config)
  const findSmall = createLoader(
    async (ids) => new Map((await listSmall(db, ids, broadcast_participants)).map((id) => [id, true])),
  )
  // A read of SQLite costs no round trip, and is done before the client can have seen that its stream is open.
  const findHead: Find<Head> =
    db.dialect === 'sqlite'
      ? async (id) => (await listHeads(db, [id])).get(id)
      : createLoader((ids) => listHeads(db, ids))
  const findMemberships = createLoader(async (ids) => groupByUser(await listMembershipsOfUsers(db, ids)))
  const countUnread = createLoader((ids) => countUnreadNotifications(db, ids))
  return {
    ofConversation: (conversationId) => conversationSource(db, conversationId, { findHead, photos, now }),
    compose: (rows) => compose(db, rows, { photos, now: now() }),
    listMemberships: async (userId) => (await findMemberships(userId)) ?? [],
    getsPresence: async (conversationId) => (await findSmall(conversationId)) ?? false,
    listParticipations: (userIds, conversationIds) => listParticipations(db, userIds, conversationIds),
    countNotifications: async (userId) => (await countUnread(userId)) ?? 0,
    completeInboxEvents: (events) => completeInboxEvents(db, events, settingsContext(deps)),
    listFollowing: (rootId, userIds) => listFollowing(db, rootId, userIds),
    listUnreadUpdates: (places) => listUnreadUpdates(db, places),
    findRefusals: (readers) => findRefusals({ access, db, now: sessionNow() }, readers),
  }
}

function groupByUser(rows: ({ user_id: string } & JoinedConversation)[]): Map<string, JoinedConversation[]> {
  const groups = new Map<string, JoinedConversation[]>()
  for (const { user_id, ...joined } of rows) {
    const group = groups.get(user_id)
    if (group) group.push(joined)
    else groups.set(user_id, [joined])
  }
  return groups
}

/** The log of one conversation. @param findHead looks its ends up, together with those of others */
export function conversationSource(
  db: Database,
  conversationId: string,
  { findHead, photos, now }: { findHead: Find<Head>; photos: Photos; now: () => Micros },
): Source {
  return {
    head: () => findHead(conversationId),
    read: async (seq, limit) =>
      toPage(db, await listEvents(db, conversationId, seq, limit), { limit, photos, now: now() }),
  }
}

async function toPage(
  db: Database,
  rows: EventRow[],
  { limit, ...reading }: Reading & { limit: number },
): Promise<Page> {
  const lines = await compose(db, rows, reading)
  return { lines, isLast: rows.length < limit && lines.length === rows.length }
}
