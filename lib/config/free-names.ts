import { isAssistantKey } from './assistants.ts'
import { isProviderName } from './oauth.ts'
import { isToolName } from './tools.ts'

/** A section whose keys, beside its own, are names that an operator chooses. */
export interface FreeNames {
  /** Stands for the name in the documentation. */
  shown: string
  isName: (name: string) => boolean
}

/** The sections with free names. */
export const FREE_NAMES: Record<string, FreeNames> = {
  oauth: { shown: '<provider>', isName: isProviderName },
  assistants: { shown: '<assistant>', isName: isAssistantKey },
  tools: { shown: '<tool>', isName: isToolName },
}
