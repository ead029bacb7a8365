import { MAX_LENGTH } from '../core/lengths.ts'
import { integer, key, oneOf, reloadableKey, section } from './key.ts'

/** What users are notified of. */
export const NotificationsSection = section({
  default_level: key(
    oneOf('all', 'mentions', 'none'),
    'mentions',
    'Of which messages participants are notified who have not chosen a level: in direct conversations it is all.',
  ),
  keep_days: key(integer(1, 3650), 90, 'How long notifications are kept; older ones leave the inbox.', {
    unit: 'days',
  }),
})

/** The maximum sizes of what users write. */
export const LimitsSection = section({
  max_depth: reloadableKey(integer(1, 1000), 100, 'Maximum depth of replies; the root of a thread has depth 0.'),
  message_bytes: reloadableKey(integer(1, MAX_LENGTH.message), 65_536, 'Maximum length of a message, in UTF-8.', {
    unit: 'bytes',
  }),
  revisions_per_message: reloadableKey(
    integer(1, 1000),
    100,
    'Number of stored revisions of an edited message; a further edit drops the oldest.',
  ),
  pins: reloadableKey(integer(1, 100), 100, 'Maximum number of pinned messages of a conversation.'),
  reactions_per_message: reloadableKey(
    integer(1, 100),
    32,
    'Maximum number of different emoji with which a message has reactions.',
  ),
  mention_all: reloadableKey(
    integer(0, 10_000),
    1000,
    'Conversations with more participants do not have @all, which notifies every participant at once.',
  ),
})
