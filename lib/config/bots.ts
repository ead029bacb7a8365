import { flag, integer, key, section } from './key.ts'

/** Programs of users, which are users of their own. */
export const BotsSection = section({
  enabled: key(
    flag,
    undefined,
    'Whether users can make bots. The command line turns it on unless this is false; a host that wants it sets true. Without it, the routes of bots are 404, and their keys are refused.',
  ),
  max_per_user: key(integer(1, 100), 10, 'Bots of a user.'),
  messages_per_min: key(integer(1, 1_000_000), 60, 'Messages of a bot per minute in each conversation; 429 beyond.'),
  max_streaming: key(integer(1, 10_000), 5, 'Messages that a bot streams at once; 409 beyond.'),
  stream_seconds: key(
    integer(1, 86_400),
    600,
    'Time for which a bot or a system actor streams one message; a longer one fails.',
  ),
})
