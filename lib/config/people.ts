import { flag, integer, key, oneOf, reloadableKey, section } from './key.ts'

/** New conversations. */
export const ConversationsSection = section({
  default_layout: reloadableKey(
    oneOf('stream', 'topics', 'assistant'),
    'stream',
    'How pages show a new conversation for which none is chosen: by time, by topics, or as a talk with the assistant.',
  ),
})

/** Direct conversations. */
export const DirectSection = section({
  enabled: key(flag, true, 'Direct conversations can be opened; those that exist can be used in any case.'),
  who: key(
    oneOf('shared', 'everyone'),
    'shared',
    'The users that one can be opened with: shared, those of a common conversation; or everyone.',
  ),
})

/** The search in messages. */
export const SearchSection = section({
  enabled: key(flag, true, 'Messages can be searched by their words.'),
  budget_ms: key(integer(50, 5000), 500, 'How long a request searches before it returns what it has, in milliseconds.'),
  per_user_per_min: key(integer(1, 100_000), 60, 'Searches of a user per minute, in each process.'),
})

/** Read receipts: which participants have read a message. */
export const ReceiptsSection = section({
  enabled: key(
    flag,
    true,
    'Participants can see who has read a message, where the conversation and the readers agree.',
  ),
})
