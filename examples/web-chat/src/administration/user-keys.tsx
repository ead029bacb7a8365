import type { KeyOfUser } from 'chat-server/client/admin'
import { useState } from 'preact/hooks'
import { KeyItem } from '../account/key-item.tsx'
import { useApp } from '../app/context.ts'
import { Confirm } from '../parts/confirm.tsx'
import { PagesEnd, usePages } from '../parts/pages.tsx'
import { accountTexts, administrationTexts } from '../texts/settings.ts'
import { useAdmin } from './admin.ts'

/** The API keys of a user, each of which can be revoked. */
export function UserKeys({ id, onChanged }: { id: string; onChanged: () => void }) {
  const admin = useAdmin()
  const { features } = useApp()
  const { users: words } = administrationTexts.value
  const { keys: keyWords } = accountTexts.value
  const [revoking, setRevoking] = useState<KeyOfUser>()
  const pages = usePages(async (after, signal) => {
    const { keys, next_after } = await admin.keys.listAll({ user_id: id, ...(after && { after }) }, { signal })
    return { items: keys, next_after }
  })
  const changed = () => {
    pages.reload()
    onChanged()
  }
  if (!features.sign_in) return null
  return (
    <section>
      <h3>{words.keys}</h3>
      <ul class="items">
        {pages.items?.map((each) => (
          <KeyItem key={each.id} apiKey={each} onRevoke={() => setRevoking(each)} />
        ))}
      </ul>
      <PagesEnd pages={pages} none={words.no_keys} />
      {revoking && (
        <Confirm
          title={keyWords.revoke_title(revoking.name)}
          text={keyWords.revoke_text}
          button={keyWords.revoke}
          act={() => admin.keys.revokeAny(revoking.id).then(changed)}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </section>
  )
}
