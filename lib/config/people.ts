import * as v from 'valibot'
import { parseUrl } from '../core/url.ts'
import { flag, integer, key, oneOf, reloadableKey, section, text } from './key.ts'

/** The largest photo that can be configured: one part of a file, which is in memory as a whole. */
const MAX_PHOTO_BYTES = 4 * 1024 * 1024

/** New conversations. */
export const ConversationsSection = section({
  default_layout: reloadableKey(
    oneOf('stream', 'topics', 'assistant'),
    'stream',
    'How pages show a new conversation for which none is chosen: by time, by topics, or as a talk with the assistant.',
  ),
})

/** Photos of people. */
export const AvatarsSection = section({
  enabled: key(
    flag,
    true,
    'Users can set a photo of their own. Without it, the routes of photos are 404; photos that a host names stay.',
  ),
  max_bytes: key(integer(1, MAX_PHOTO_BYTES), 1024 * 1024, 'Maximum size of a photo.', { unit: 'bytes' }),
  hosts: key(
    v.array(v.pipe(text, v.check(isHttpsOrigin, 'must be an origin such as https://photos.example.org'))),
    [] as string[],
    'The origins of the photos that a host names, such as https://photos.example.org: the page of the service shows photos from these, and its own.',
  ),
})

/** A URL parser takes other characters in a host, such as `;` and `*`, which have a meaning in a content policy. */
function isHttpsOrigin(origin: string): boolean {
  return /^https:\/\/[a-z0-9.-]+(:\d+)?$/.test(origin) && parseUrl(origin)?.origin === origin
}

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
