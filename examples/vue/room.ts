import type { ChatStore } from 'chat-server/client/store'
import { defineComponent, h, type PropType } from 'vue'
import { useReadable } from './chat.ts'

/** The messages of a conversation as they arrive, and the earlier ones on request. */
export const Room = defineComponent({
  props: {
    store: { type: Object as PropType<ChatStore>, required: true },
    id: { type: String, required: true },
  },
  setup({ store, id }) {
    const room = store.conversation(id)
    const view = useReadable(room)
    return () => [
      view.value.has_older && h('button', { onClick: room.loadOlder }, 'Earlier messages'),
      ...view.value.messages.map((message) => h('p', { key: message.id }, message.content)),
      h('button', { onClick: () => store.post({ conversation_id: id, content: 'It runs.' }) }, 'Send'),
    ]
  },
})
