import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { linkTo } from '../app/route.ts'
import { announce } from '../parts/announcer.tsx'
import { copyText } from '../parts/copy-text.ts'
import { roomTexts } from '../texts/room.ts'

/** For how long a link is valid. */
export const INVITE_DAYS = 7

/** How many people a link may be for, where the service allows it; the first screen offers the most. */
export const INVITE_USES = [1, 5, 25] as const

/** An invite link that was just made: it is shown once. */
export interface MadeInvite {
  id: string
  link: string
  max_uses: number
  isCopied: boolean
  /** Whether it creates accounts, as far as the service says. */
  signsUp: boolean
}

/** Makes an invite link, copies it, and revokes it. */
export function useInvite(conversation_id: string) {
  const { client, features } = useApp()
  const [made, setMade] = useState<MadeInvite>()
  const create = useAction(async (uses: number) => {
    const max_uses = Math.min(uses, features.limits.invite_uses)
    const invite = { ttl_seconds: INVITE_DAYS * 24 * 60 * 60, max_uses }
    const { token = '', invite_id } = await client.invites.create(conversation_id, invite)
    const link = linkTo({ name: 'join', token })
    // Some browsers refuse it, as the click was before the answer of the service: the link has a button of its own.
    const isCopied = await copyText(link)
    if (isCopied) announce(roomTexts.value.invites.copied)
    const signsUp = await client.invites.preview({ token }).then(
      (invite) => invite.can_sign_up,
      // The link is what counts.
      () => true,
    )
    setMade({ id: invite_id, link, max_uses, isCopied, signsUp })
  })
  const revoke = useAction(async (id: string) => {
    await client.invites.revoke(id)
    announce(roomTexts.value.invites.revoked)
    setMade((before) => (before?.id === id ? undefined : before))
  })
  return { made, create, revoke }
}
