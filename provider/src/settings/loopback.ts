/** Names and addresses of this machine itself. Takes a URL's `hostname`. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
