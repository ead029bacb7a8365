// The store of chat-server in Vue: `const conversations = useReadable(store.conversations)` in `setup`.
import type { Readable } from 'chat-server/client/store'
import { onMounted, onUnmounted, type ShallowRef, shallowRef } from 'vue'

/** A part of the store as a ref, while the component is mounted. On a server it stays as it is before anything is read. */
export function useReadable<T>(part: Readable<T>): Readonly<ShallowRef<T>> {
  const snapshot = shallowRef(part.getServerSnapshot())
  const update = () => {
    snapshot.value = part.getSnapshot()
  }
  let stop = () => {}
  onMounted(() => {
    stop = part.subscribe(update)
    update()
  })
  onUnmounted(() => stop())
  return snapshot
}
