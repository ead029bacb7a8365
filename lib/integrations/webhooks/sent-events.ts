import * as v from 'valibot'
import { FeedEvent } from '../../chat/feed/schema.ts'
import { toSentTypes } from './rules.ts'

type Kind = v.ObjectSchema<v.ObjectEntries & { type: v.LiteralSchema<string, undefined> }, undefined>

const kinds = (FeedEvent as unknown as { options: readonly Kind[] }).options

/** The shapes of the events that webhooks are sent whole, by type: those of the feed, whose `position` is a header. */
export const SENT_EVENTS: ReadonlyMap<string, v.GenericSchema> = new Map(
  kinds
    .filter(({ entries: { type } }) => toSentTypes(['*']).has(type.literal))
    .map(({ entries: { position: _, ...entries } }) => [entries.type.literal, v.object(entries)]),
)
