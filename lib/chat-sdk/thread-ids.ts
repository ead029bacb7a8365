/** A place of messages: a thread of a conversation, or the conversation itself. */
export interface ChatServerThreadId {
  conversation_id: string
  /** The thread; missing for the conversation itself. */
  root_id?: string
  /** The conversation is a direct one, between two users. */
  direct?: true
}

/** Places as texts, and back. */
export interface ThreadIds {
  encode(place: ChatServerThreadId): string
  /** @throws TypeError for an id of another adapter, or of none */
  decode(id: string): ChatServerThreadId
}

/** The SDK asks whether an id is of a direct conversation, and does not wait for an answer: the id says it. */
const DIRECT = 'direct.'

/** @param name the name of the adapter, by which the SDK finds it: `<name>:<conversation_id>:<root_id>` */
export function createThreadIds(name: string): ThreadIds {
  return {
    encode({ conversation_id, root_id, direct }) {
      const conversation = `${name}:${direct ? DIRECT : ''}${conversation_id}`
      return root_id === undefined ? conversation : `${conversation}:${root_id}`
    },
    decode(id) {
      const [adapter, conversation = '', root_id, ...rest] = id.split(':')
      const direct = conversation.startsWith(DIRECT)
      const conversation_id = direct ? conversation.slice(DIRECT.length) : conversation
      if (adapter !== name || !conversation_id || root_id === '' || rest.length > 0)
        throw new TypeError(`"${id}" is no thread id of the adapter "${name}"`)
      return { conversation_id, ...(root_id !== undefined && { root_id }), ...(direct && { direct }) }
    },
  }
}
