/** Where the CSRF token is kept for the tab. */
export const CSRF_KEY = 'chat:csrf'
