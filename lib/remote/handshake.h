// The first two messages of a connection, by which client and server agree on the protocol and, with a key, on a secret of this
// connection's own: each side gives a nonce, and neither shows the key.
#pragma once
#include <string>

#include "remote/frame.h"

namespace dnn::remote {

// `key`: the bytes of the key file, "" for none. Both throw Environment where one side has a key and the other has none, and
// Unsupported for another protocol.
void greet_server(Frames& frames, const std::string& key, const std::string& name);
// False where the client left before it said anything. `wants_signs`: whether it takes messages {"alive": true} before an answer that
// takes its time, which tell that the server is at it.
bool greet_client(Frames& frames, const std::string& key, bool* wants_signs = nullptr);

// An answer that says why something failed, and the error that the other side throws for it, with `name` in front.
Json failure(const Error& error);
void throw_failure(const Json& map, const std::string& name);

// The value of a key, which must be there and of this kind. Throws Malformed.
std::string text_of(const Json& map, const char* key);
int64_t number_of(const Json& map, const char* key, int64_t least, int64_t most);
// False where it is not there.
bool flag_of(const Json& map, const char* key);

}  // namespace dnn::remote
