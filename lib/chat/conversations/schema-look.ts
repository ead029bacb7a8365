import * as v from 'valibot'
import { EMOJI_OR_EMPTY_PATTERN, isEmoji, MAX_EMOJI_BYTES } from '../../core/emoji.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { label } from '../../core/schema.ts'

/** How pages show a conversation: as one stream by time, as a list of topics, or as a talk with the assistant. */
export const Layout = v.picklist(['stream', 'topics', 'assistant'])
export type Layout = v.InferOutput<typeof Layout>

/** An emoji, or the name of a picture of the application's; an empty text is none. */
const Icon = v.pipe(
  v.string(),
  v.maxLength(MAX_EMOJI_BYTES, `must be at most ${MAX_EMOJI_BYTES} bytes of UTF-8`),
  v.check((icon) => icon === '' || isEmoji(icon), 'must be one emoji, or a name such as :tada:'),
  v.metadata({ pattern: EMOJI_OR_EMPTY_PATTERN }),
  v.description('One emoji, or a name in colons, as in reactions. Empty: none'),
)

/** What a conversation looks like, as its participants read it. */
export const LookFields = {
  layout: v.pipe(Layout, v.description('How pages show it; a direct one is always a `stream`')),
  layout_unset: v.optional(
    v.pipe(v.literal(true), v.description('Set while no layout was chosen: it is from before layouts')),
  ),
  topic: v.optional(v.pipe(v.string(), v.description('What it is about'))),
  icon: v.optional(v.pipe(v.string(), v.description('An emoji, or a name in colons'))),
}

/** What a new conversation looks like, or a change of that. */
export const LookInput = {
  layout: v.optional(Layout),
  topic: v.optional(label(MAX_LENGTH.topic)),
  icon: v.optional(Icon),
}

/** A change of what a conversation looks like; missing fields keep their value. */
export const LookChange = v.object(LookInput)
export type LookChange = v.InferOutput<typeof LookChange>
