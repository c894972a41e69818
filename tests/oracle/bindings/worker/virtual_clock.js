// The time of flarebed's engines, which a server of the test's tells (virtual_time.py): in the place of clock.js.

const SERVER = "http://127.0.0.1:PORT";

export const nowMs = () => pause(0);

export async function pause(seconds) {
  const response = await fetch(`${SERVER}/${seconds}`);
  return Number(await response.text());
}
