import type { Account } from 'chat-server/client/admin'
import { goTo } from '../app/route.ts'
import { EraseDialog } from '../parts/erase-dialog.tsx'
import { showToast } from '../parts/toast.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { useAdmin } from './admin.ts'

/** Erases a user for ever. What then goes on is shown above the list of users. */
export function EraseUser({ account, onClose }: { account: Account; onClose: () => void }) {
  const admin = useAdmin()
  const { users: words } = administrationTexts.value
  return (
    <EraseDialog
      account={account}
      text={words.erase_text}
      erase={(messages) => admin.users.erase(account.id, { messages })}
      onErased={() => {
        showToast(words.erased)
        goTo({ name: 'administration', tab: 'users' }, { replace: true })
      }}
      onClose={onClose}
    />
  )
}
