import type { Dialect } from '../database.ts'
import { foundation } from './0001-foundation.ts'
import { assistant } from './0002-assistant.ts'
import { access } from './0003-access.ts'
import { retention } from './0004-retention.ts'
import { invites } from './0005-invites.ts'
import { tasks } from './0006-tasks.ts'
import { addresses } from './0007-addresses.ts'
import { confirmation } from './0008-confirmation.ts'
import { rotatedTokens } from './0009-rotated-tokens.ts'
import { participants } from './0010-participants.ts'
import { deleteReason } from './0011-delete-reason.ts'
import { unreadTotals } from './0012-unread-totals.ts'
import { changes } from './0013-changes.ts'
import { nodes } from './0014-nodes.ts'
import { schedules } from './0015-schedules.ts'
import { emailRequests } from './0016-email-requests.ts'
import { hosts } from './0017-hosts.ts'
import { systemConversations } from './0018-system-conversations.ts'
import { people } from './0019-people.ts'
import { reactionsAndPins } from './0020-reactions-and-pins.ts'
import { notifications } from './0021-notifications.ts'
import { inboxes } from './0022-inboxes.ts'
import { search } from './0023-search.ts'
import { attachments } from './0024-attachments.ts'
import { ownReactions } from './0025-own-reactions.ts'
import { uploadsUnderWay } from './0026-uploads-under-way.ts'
import { blobSizes } from './0027-blob-sizes.ts'
import { searchNumbers } from './0028-search-numbers.ts'
import { participantCounts } from './0029-participant-counts.ts'
import { processPlaces } from './0030-process-places.ts'
import { displayNames } from './0031-display-names.ts'
import { blobOwners } from './0032-blob-owners.ts'
import { inviteDelivery } from './0033-invite-delivery.ts'
import { systemDirect } from './0034-system-direct.ts'
import { auditFacts } from './0035-audit-facts.ts'
import { conversationSalt } from './0036-conversation-salt.ts'
import { clock } from './0037-clock.ts'
import { lostFiles } from './0038-lost-files.ts'
import { backupPlace } from './0039-backup-place.ts'
import { heardAt } from './0040-heard-at.ts'
import { nodeDetails } from './0041-node-details.ts'
import { usageSums } from './0042-usage-sums.ts'
import { auditAbout } from './0043-audit-about.ts'
import { layouts } from './0044-layouts.ts'
import { threadTitles } from './0045-thread-titles.ts'
import { arrivals } from './0046-arrivals.ts'
import { readFloors } from './0048-read-floors.ts'
import { following } from './0049-following.ts'
import { mentionOrigins } from './0050-mention-origins.ts'
import { quotes } from './0051-quotes.ts'
import { names } from './0052-names.ts'
import { avatars } from './0053-avatars.ts'
import { unreadParts } from './0054-unread-parts.ts'
import { followedThreads } from './0055-followed-threads.ts'
import { notificationScopes } from './0056-notification-scopes.ts'
import { ownAvatars } from './0057-own-avatars.ts'
import { lastRepliers } from './0058-last-repliers.ts'
import { threadsWithNews } from './0059-threads-with-news.ts'
import { followersOfThreads } from './0060-followers-of-threads.ts'
import { favourites } from './0063-favourites.ts'
import { variants } from './0064-variants.ts'
import { roomsOfInvites } from './0065-rooms-of-invites.ts'
import { signedTokens } from './0067-signed-tokens.ts'
import { mergedUsers } from './0070-merged-users.ts'
import { frozenConversations } from './0072-frozen-conversations.ts'
import { publicRooms } from './0073-public-rooms.ts'
import { guests } from './0074-guests.ts'
import { serverKeys } from './0075-server-keys.ts'
import { automaticJoins } from './0076-automatic-joins.ts'
import { expiredServerKeys } from './0077-expired-server-keys.ts'
import { bots } from './0080-bots.ts'
import { hooks } from './0081-hooks.ts'
import { tokenFloors } from './0084-token-floors.ts'
import { webhooks } from './0085-webhooks.ts'
import { privateEvents } from './0086-private-events.ts'
import { commands } from './0087-commands.ts'
import { lastDeletedId } from './0089-last-deleted-id.ts'
import { streamedMessages } from './0090-streamed-messages.ts'
import { parts } from './0091-parts.ts'
import { severalAssistants } from './0092-several-assistants.ts'
import { assistantUsage } from './0093-assistant-usage.ts'
import { marks } from './0094-marks.ts'
import { tools } from './0095-tools.ts'
import { generatedFiles } from './0096-generated-files.ts'
import { chats } from './0097-chats.ts'
import { questionContext } from './0098-question-context.ts'
import { variantsOfAnswers } from './0099-variants-of-answers.ts'
import { authorization } from './0100-authorization.ts'
import { answersByArrival } from './0101-answers-by-arrival.ts'
import { failingWebhooks } from './0102-failing-webhooks.ts'
import { runsAndDeciders } from './0103-runs-and-deciders.ts'
import { approvalsThatWait } from './0104-approvals-that-wait.ts'
import { guestUses } from './0105-guest-uses.ts'

/** One migration. It never changes: its checksum is stored in every database, and listed in `test/storage/frozen.ts`. */
export interface Migration {
  name: string
  /**
   * Begins another major version of the schema: earlier programs cannot use the database any more. Without it, a
   * migration only adds: earlier programs ignore that.
   */
  major?: number
  statements: (types: ColumnTypes, dialect: Dialect) => string[]
}

interface ColumnTypes {
  /** Text compared byte by byte, for keys and sort columns. */
  key: string
  /** An increasing number that the database assigns. */
  serial: string
  /** For a table of short rows: stored in the order of its primary key, without a separate index. */
  lean: string
  /** A number with a fraction. */
  real: string
}

/** The SQL type on each database. */
export const COLUMN_TYPES: Record<Dialect, ColumnTypes> = {
  sqlite: { key: 'TEXT', serial: 'INTEGER PRIMARY KEY AUTOINCREMENT', lean: ' WITHOUT ROWID', real: 'REAL' },
  postgresql: {
    key: 'TEXT COLLATE "C"',
    serial: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    lean: '',
    real: 'DOUBLE PRECISION',
  },
}

/** Every migration, oldest first. Append only. */
export const MIGRATIONS: readonly Migration[] = [
  foundation,
  assistant,
  access,
  retention,
  invites,
  tasks,
  addresses,
  confirmation,
  rotatedTokens,
  participants,
  deleteReason,
  unreadTotals,
  changes,
  nodes,
  schedules,
  emailRequests,
  hosts,
  systemConversations,
  people,
  reactionsAndPins,
  notifications,
  inboxes,
  search,
  attachments,
  ownReactions,
  uploadsUnderWay,
  blobSizes,
  searchNumbers,
  participantCounts,
  processPlaces,
  displayNames,
  blobOwners,
  inviteDelivery,
  systemDirect,
  auditFacts,
  conversationSalt,
  clock,
  lostFiles,
  backupPlace,
  heardAt,
  nodeDetails,
  usageSums,
  auditAbout,
  layouts,
  threadTitles,
  arrivals,
  readFloors,
  following,
  mentionOrigins,
  quotes,
  names,
  avatars,
  unreadParts,
  followedThreads,
  notificationScopes,
  ownAvatars,
  lastRepliers,
  threadsWithNews,
  followersOfThreads,
  favourites,
  variants,
  roomsOfInvites,
  signedTokens,
  mergedUsers,
  frozenConversations,
  publicRooms,
  guests,
  serverKeys,
  automaticJoins,
  expiredServerKeys,
  bots,
  hooks,
  tokenFloors,
  webhooks,
  privateEvents,
  commands,
  lastDeletedId,
  streamedMessages,
  parts,
  severalAssistants,
  assistantUsage,
  marks,
  tools,
  generatedFiles,
  chats,
  questionContext,
  variantsOfAnswers,
  authorization,
  answersByArrival,
  failingWebhooks,
  runsAndDeciders,
  approvalsThatWait,
  guestUses,
]

/** The major version of the schema of this program; the minor version is the number of migrations. */
export const MAJOR = Math.max(1, ...MIGRATIONS.map(({ major = 1 }) => major))
