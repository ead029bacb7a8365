import { type AdminClient, createAdminClient } from 'chat-server/client/admin'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { App } from '../app/context.ts'
import { csrfToken } from '../app/csrf-token.ts'

export const AdminContext = createContext<AdminClient | undefined>(undefined)

/** The client with the endpoints of administrators. */
export function useAdmin(): AdminClient {
  return useContext(AdminContext)!
}

/** Shares the session of the page. */
export function adminClientOf({ client_options }: App): AdminClient {
  const csrf_token = csrfToken()
  return createAdminClient({ ...client_options, ...(csrf_token && { csrf_token }) })
}
