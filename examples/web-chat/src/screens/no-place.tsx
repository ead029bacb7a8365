import { ChatError, type User } from 'chat-server/client'
import { useEffect, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { lastPlace } from '../app/last-place.ts'
import { isOnline } from '../app/online.ts'
import { goTo } from '../app/route.ts'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'

/** Goes on where the user was, unless that is left, archived or deleted by now. A phone shows the list alone. */
export function NoPlace({ user }: { user: User }) {
  const { client } = useApp()
  const [isNowhere, setNowhere] = useState(false)
  useEffect(() => {
    const abort = new AbortController()
    const conversation_id = matchMedia('(width < 45rem)').matches ? undefined : lastPlace(user.id)
    const isThere = async (id: string) => {
      if (!isOnline.peek()) return true
      const { joined, archived } = await client.conversations.get(id, { signal: abort.signal })
      return joined !== false && !archived
    }
    const goOn = async () => {
      const isHere = conversation_id && (await isThere(conversation_id).catch(isUnknown))
      if (abort.signal.aborted) return
      if (isHere) goTo({ name: 'conversation', conversation_id }, { replace: true })
      else setNowhere(true)
    }
    void goOn()
    return () => abort.abort()
  }, [])
  return (
    <div class="pane nothing">
      {isNowhere && (
        <>
          <Icon name="chat" />
          <p>{texts.value.conversations.choose}</p>
        </>
      )}
    </div>
  )
}

/** The conversation itself says what is wrong with the service. */
const isUnknown = (error: unknown) => !(error instanceof ChatError && (error.status === 403 || error.status === 404))
