import type { App } from './context.ts'

/** Whether people sign in here, and not at an application around the page: only then it has passwords, sessions and keys. */
export function hasOwnSignIn({ features, brand }: Pick<App, 'features' | 'brand'>): boolean {
  return features.sign_in && brand.sign_in_url === undefined
}
