import { join, sql } from '../../storage/sql.ts'
import type { Invariant } from './invariant.ts'

const SHOWN = sql`is_direct = 1 AND (visibility IS NOT NULL OR auto_join IS NOT NULL)`

/** Participations of guests in other than direct conversations that give more than a guest may have. */
const beyondGuests = (roles: readonly string[]) => sql`role IN (${join(
  roles.map((role) => sql`${role}`),
  ', ',
)})
  AND EXISTS (SELECT 1 FROM users u WHERE u.id = participants.user_id AND u.kind = 'guest')
  AND EXISTS (SELECT 1 FROM conversations c WHERE c.id = participants.conversation_id AND c.is_direct = 0)`

/**
 * What holds of each conversation, and of its participants.
 *
 * @param rolesBeyondMember the roles in conversations with a right that a member does not have
 */
export const conversationInvariants = (rolesBeyondMember: readonly string[]): Invariant[] => [
  {
    name: 'conversations.clock',
    says: 'The clock of a conversation is not behind its messages and events.',
    find: sql`SELECT c.id FROM conversations c
            WHERE c.clock < (SELECT max(t.last_activity_at) FROM threads t WHERE t.conversation_id = c.id)`,
  },
  {
    name: 'conversations.direct',
    says: 'A conversation that is not a group has at most two participants.',
    remedy: 'Harmless: the conversation works as a group.',
    find: sql`SELECT c.id FROM conversations c
            WHERE c.is_group = 0 AND (SELECT count(*) FROM participants p WHERE p.conversation_id = c.id) > 2`,
  },
  {
    name: 'pair-key-matches-participants',
    says: 'A direct conversation belongs to the people of its pair, or to one of them and a system actor, and no other conversation has a pair.',
    remedy: 'Harmless: the two people get another direct conversation. Only its participants can use this one.',
    find: sql`SELECT c.id FROM conversations c
            WHERE c.deleted_at IS NULL AND c.pair_key IS NOT NULL
              AND (c.is_direct = 0 OR c.is_group = 1 OR c.pair_key <> (
                   SELECT min(pair.id) || ':' || max(pair.id) FROM (
                     SELECT p.user_id AS id FROM participants p WHERE p.conversation_id = c.id
                      UNION ALL SELECT c.system_id WHERE c.system_id IS NOT NULL) pair))`,
  },
  {
    name: 'chat-root-in-conversation',
    says: 'The thread of a chat that a user has named is in the conversation of the chat.',
    remedy: 'Only the name is wrong: its user finds another thread by it. Delete the row of `chats`.',
    find: sql`SELECT h.name AS id FROM chats h JOIN threads t ON t.root_id = h.root_id
      WHERE t.conversation_id <> h.conversation_id`,
  },
  {
    name: 'public-not-direct',
    says: 'A direct conversation is private, and no user joins it automatically.',
    find: sql`SELECT id FROM conversations WHERE ${SHOWN}`,
    // It is hidden again.
    repair: sql`UPDATE conversations SET visibility = NULL, auto_join = NULL WHERE ${SHOWN}`,
  },
  {
    name: 'guest-at-most-member',
    says: 'A guest is at most a member of a conversation, but for direct ones.',
    find: sql`SELECT user_id AS id FROM participants WHERE ${beyondGuests(rolesBeyondMember)}`,
    remedy:
      'Only participants can correct it: an owner or admin of the conversation gives the guest the role `member`.',
  },
  {
    name: 'conversations.owned',
    says: 'Every conversation has an owner, unless a part of the host has created it.',
    remedy: 'Only administrators can manage it until one of them makes a participant its owner.',
    find: sql`SELECT c.id FROM conversations c
            WHERE c.system_id IS NULL
              AND NOT EXISTS (SELECT 1 FROM participants p WHERE p.conversation_id = c.id AND p.role = 'owner')`,
  },
]
