import { signal } from '@preact/signals'
import type { AssistantList, Capabilities, ChatClient, ConversationSummary } from 'chat-server/client'
import { texts } from '../texts/texts.ts'
import type { OfferedAssistant } from './offered-assistant.ts'

/** The assistants of the service, read when one is first shown. A component that calls this is rendered again when they are there. */
export interface Assistants {
  /** Those that the user may ask in a conversation, the default first. */
  offeredIn(policy: ConversationSummary['policy']): readonly OfferedAssistant[]
  /** What is known of the writer of an answer; of one that the user may not ask, its key. */
  infoOf(key: string | undefined): Pick<OfferedAssistant, 'title' | 'avatar_url'>
  /** What is shown at generated text. */
  label(): string
  /** What is shown before the first question of the user. */
  notice(): string | undefined
  /** Another user may ask others: they are read again. */
  invalidate(): void
}

/** What the service calls generated text by default. */
const LABEL = 'AI'

export function createAssistants(client: ChatClient, offered: Capabilities['assistant']): Assistants {
  const list = signal<AssistantList | undefined>(undefined)
  let isRead = false

  function read(): AssistantList | undefined {
    const known = list.value
    if (isRead) return known
    isRead = true
    client.assistants.list().then(
      (found) => {
        list.value = found
      },
      // Without the service, the next one that is shown tries again.
      () => {
        isRead = false
      },
    )
    return known
  }

  return {
    offeredIn({ assistants: allowed = 'all' }) {
      if (!offered || allowed === 'none') return []
      const all = read()?.assistants
      if (!all) return [{ title: offered.name }]
      return allowed === 'all' ? all : all.filter(({ key }) => allowed.includes(key))
    },
    infoOf(key) {
      const all = (offered && read()?.assistants) ?? []
      const info = all.find((each) => each.key === key)
      if (info) return info
      // The quote of an answer does not name which of several has written it.
      const isOther = key === undefined ? all.length > 1 : key !== 'assistant'
      return { title: isOther ? (key ?? texts.value.assistant) : (offered?.name ?? texts.value.assistant) }
    },
    label: () => read()?.label ?? LABEL,
    notice: () => read()?.notice,
    invalidate() {
      isRead = false
    },
  }
}
