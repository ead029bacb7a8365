import { type AdminClient, createAdminClient } from 'chat-server/client/admin'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { App } from '../app/context.ts'
import { CSRF_KEY } from '../app/csrf-key.ts'

export const AdminContext = createContext<AdminClient | undefined>(undefined)

/** The client with the endpoints of administrators. */
export function useAdmin(): AdminClient {
  return useContext(AdminContext)!
}

/** Shares the session of the page. */
export function adminClientOf({ client_options }: App): AdminClient {
  const csrf_token = sessionStorage.getItem(CSRF_KEY)
  return createAdminClient({ ...client_options, ...(csrf_token && { csrf_token }) })
}
