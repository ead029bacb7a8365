import { createContext } from 'preact'
import type { MentionedNames } from './split-mentions.ts'

/** Of a message that mentions no user: always the same, so that nothing is rendered again. */
export const NO_MENTIONS: MentionedNames = new Map()

/** The mentions of the message around a text. */
export const MentionsContext = createContext<MentionedNames>(NO_MENTIONS)
