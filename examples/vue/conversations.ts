import type { ChatStore } from 'chat-server/client/store'
import { defineComponent, h, type PropType } from 'vue'
import { useReadable } from './chat.ts'

/** The number of unread notifications, and the titles of the user's conversations. */
export const Conversations = defineComponent({
  props: { store: { type: Object as PropType<ChatStore>, required: true } },
  setup({ store }) {
    const view = useReadable(store.conversations)
    const unread = useReadable(store.unreadNotifications)
    return () =>
      view.value.status === 'loading'
        ? h('p', 'Loading…')
        : [
            h('h1', `Inbox (${unread.value})`),
            h(
              'ul',
              view.value.conversations.map(({ id, title }) => h('li', { key: id }, title)),
            ),
          ]
  },
})
